import type { Page } from '@playwright/test';
import { faintParts } from './contrast.ts';
import { cutTexts, setReaderStyle } from './cut-texts.ts';
import { forcedColourFaults } from './forced-colours.ts';
import { keyboardFaults } from './keyboard-faults.ts';
import { expect, test } from './test.ts';
import { documentFaults, treeFaults } from './tree-faults.ts';

// What every-screen.spec.ts looks for is found where it is.

type Check = (page: Page) => Promise<string[]>;

const faults: { what: string; style?: string; spoil?: () => void; check: Check; found: RegExp }[] = [
  {
    what: 'a button that cuts its text',
    style: `.button { inline-size: 2rem; white-space: nowrap }`,
    check: cutTexts,
    found: /leaves button/,
  },
  { what: 'a text over another', style: '.or { translate: 0 -3.4rem }', check: cutTexts, found: /covers/ },
  {
    what: 'a page that scrolls sideways',
    style: '.floor { inline-size: 200vw }',
    check: cutTexts,
    found: /scrolls sideways/,
  },
  {
    what: 'a pale icon',
    spoil: () => document.querySelector<SVGElement>('.peek svg')?.style.setProperty('color', '#ccc'),
    check: faintParts,
    found: /^icon/,
  },
  {
    what: 'a focus that is not seen',
    style: 'a, button { outline: 0 !important }',
    check: keyboardFaults,
    found: /does not show the focus/,
  },
  {
    what: 'a focus behind something',
    style: '.floor { position: fixed; inset: 0 }',
    check: keyboardFaults,
    found: /is covered/,
  },
  {
    what: 'another order of the keyboard',
    spoil: () => document.querySelector('select')?.setAttribute('tabindex', '1'),
    check: keyboardFaults,
    found: /Tab \d+ reaches/,
  },
  {
    what: 'a field that keeps the focus',
    spoil: () => document.querySelector('#password')?.addEventListener('keydown', (event) => event.preventDefault()),
    check: keyboardFaults,
    found: /reaches password/,
  },
  {
    what: 'a button without an edge',
    style: '.button { border: 0 !important }',
    check: forcedColourFaults,
    found: /no edge/,
  },
  {
    what: 'an icon in the colour of the brand',
    style: 'svg { forced-color-adjust: none }',
    check: forcedColourFaults,
    found: /keeps the colour/,
  },
  {
    what: 'a wrong field that does not look wrong',
    spoil: () => document.querySelector('#username')?.setAttribute('aria-invalid', 'true'),
    style: '.control { outline: 0 !important }',
    check: forcedColourFaults,
    found: /does not look wrong/,
  },
  {
    what: 'a button without a name',
    spoil: () => document.querySelector('.peek')?.removeAttribute('aria-label'),
    check: treeFaults,
    found: /a button has no name/,
  },
  {
    what: 'a name of two joined sentences',
    spoil: () => document.querySelector('.peek')?.setAttribute('aria-label', 'Show it.Hide it.'),
    check: treeFaults,
    found: /joined/,
  },
  {
    what: 'a second heading of the first level',
    spoil: () => document.querySelector('main')?.append(document.createElement('h1')),
    check: treeFaults,
    found: /headings: 1,1/,
  },
  {
    what: 'a wrong field with no reason',
    spoil: () => document.querySelector('#username')?.setAttribute('aria-invalid', 'true'),
    check: treeFaults,
    found: /nothing says what is wrong/,
  },
  {
    what: 'a field of no purpose',
    spoil: () => document.querySelector('#username')?.removeAttribute('autocomplete'),
    check: documentFaults,
    found: /purpose of username/,
  },
  {
    what: 'help in another place',
    spoil: () => document.querySelector('.floor a')?.remove(),
    check: documentFaults,
    found: /footer/,
  },
];

test('a fault of each kind is found', async ({ page }) => {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  for (const { what, style = '', spoil, check, found } of faults) {
    await page.goto('/portal/login');
    await expect(page.getByRole('button', { name: 'Show password' })).toBeVisible();
    await setReaderStyle(page, style);
    if (spoil) await page.evaluate(spoil);
    expect((await check(page)).join('\n'), what).toMatch(found);
  }
});
