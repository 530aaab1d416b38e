import { findCutTexts, largeText, putReaderStyle, textSpacing } from '../cut-texts.ts';
import { findForcedColourFaults } from '../forced-colours.ts';
import { startAtTop, stopOf } from '../keyboard-faults.ts';
import type { Stage } from '../stages.ts';
import { textsOf } from '../texts.ts';
import { findDocumentFaults, frameInEnglish } from '../tree-faults.ts';
import { askAxe } from './ask-axe.ts';
import { isHere } from './engines.ts';
import { box } from './sign-in.ts';
import { expect, test } from './test.ts';
import type { Role } from './visit.ts';
import type { Visitor } from './visitor.ts';

// One screen of each kind for everyone, as ../every-screen.spec.ts has all of them in Chromium. Names and roles are those
// that the browser computes for a screen reader.

test.describe.configure({ mode: 'default', timeout: 120_000 });
test.skip(({ engine }) => !isHere(engine), 'this browser is not installed');

const texts = textsOf('en');
const other = { tag: '@other-engine' };

type Screen = {
  address: string;
  stage?: Stage;
  names: [Role, string][];
  prepare?: (visitor: Visitor) => Promise<void>;
};

const screens: Record<string, Screen> = {
  'a wrong password': {
    address: '/portal/loginfail/default',
    names: [
      ['heading', texts['login-fail-default-title']],
      ['textbox', texts['login-username']],
      ['button', texts['show-password']],
      ['link', texts['login-forgotten']],
    ],
  },
  'a new password with errors': {
    address: '/portal/forgottenChange',
    names: [
      ['heading', texts['change-title']],
      ['button', texts['change-button']],
    ],
    async prepare(visitor) {
      await visitor.fill(texts['change-password'], 'abc');
      await visitor.fill(texts['change-repeat'], 'abd');
      await visitor.type('\t');
      await visitor.seesText('The two passwords aren’t the same.');
    },
  },
  'a wrong code': {
    address: '/portal/twoFactor?notice=codeWrong',
    stage: 'app',
    names: [
      ['heading', texts['twofa-title']],
      ['textbox', box(1)],
      ['textbox', box(6)],
      ['button', texts['twofa-verify']],
    ],
  },
};

/** Where the focus is, once the page has scrolled there. */
async function stopIn(visitor: Visitor) {
  let stop = await visitor.inPage(stopOf);
  for (let tries = 0; stop.fault !== null && tries < 50; tries += 1) stop = await visitor.inPage(stopOf);
  return stop;
}

/** Walks through a page with Tab; what is wrong, one per line, as ../keyboard-faults.ts has it. */
async function keyboardFaults(visitor: Visitor): Promise<string[]> {
  const names = await visitor.inPage(startAtTop);
  const found: string[] = [];
  for (const [place, name] of names.entries()) {
    await visitor.type('\t');
    const { at, fault } = await stopIn(visitor);
    if (at !== place) return [...found, `Tab ${place + 1} reaches ${names[at] ?? 'nothing'}, not ${name}`];
    if (fault) found.push(`${name} ${fault}`);
  }
  return found;
}

for (const [name, { address, stage, names, prepare }] of Object.entries(screens))
  test(`${name} is for everyone`, other, async ({ line, onLine, stages }) => {
    if (stage) line.give(await stages.cookiesOf(stage));
    const visitor = await onLine();
    await visitor.open(address);
    await visitor.isScripted();
    for (const [role, spoken] of names) await visitor.hears(role, spoken);
    await prepare?.(visitor);
    expect(await askAxe(visitor)).toEqual([]);
    expect(await visitor.inPage(findDocumentFaults, frameInEnglish)).toEqual([]);
    expect(await keyboardFaults(visitor)).toEqual([]);
    // 400 % zoom of a window that is 1280 px wide.
    await visitor.narrow(320);
    await expect.poll(() => visitor.inPage(() => innerWidth)).toBe(320);
    for (const style of ['', textSpacing, largeText]) {
      await visitor.inPage(putReaderStyle, style);
      expect(await visitor.inPage(findCutTexts), style).toEqual([]);
    }
  });

test('by night, axe finds nothing', other, async ({ onLine }) => {
  const visitor = await onLine({ looks: 'night' });
  await visitor.open('/portal/loginfail/default');
  await visitor.isScripted();
  expect(await visitor.inPage(() => matchMedia('(prefers-color-scheme: dark)').matches)).toBe(true);
  expect(await askAxe(visitor)).toEqual([]);
});

test('with more contrast, axe finds nothing', other, async ({ engine, onLine }) => {
  test.skip(engine === 'Firefox', 'a theme of high contrast forces colours in Firefox, which is the test below');
  const visitor = await onLine({ looks: 'contrast' });
  await visitor.open('/portal/loginfail/default');
  await visitor.isScripted();
  expect(await visitor.inPage(() => matchMedia('(prefers-contrast: more)').matches)).toBe(true);
  expect(await askAxe(visitor)).toEqual([]);
});

test('forced colours keep edges, icons and focus', other, async ({ engine, onLine }) => {
  test.skip(engine === 'WebKit', 'WebKit forces no colours');
  const visitor = await onLine({ looks: 'contrast' });
  await visitor.open('/portal/loginfail/default');
  await visitor.isScripted();
  expect(await visitor.inPage(() => matchMedia('(forced-colors: active)').matches)).toBe(true);
  expect(await visitor.inPage(findForcedColourFaults)).toEqual([]);
});
