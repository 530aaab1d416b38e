import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { contrastOf } from '#test/support/contrast.ts';
import { brandColours, brandStyle } from './brand-colours.ts';

type Colours = Record<string, string>;

const brands = ['#21489c', '#f80', '#FFFF00', '#000', '#fff'];
const steps = Array.from({ length: 16 }, (_, index) => index * 17);
const grid = steps.flatMap((r) => steps.flatMap((g) => steps.map((b) => `#${[r, g, b].map(hexByte).join('')}`)));

/** The fixed colours, from the style sheets. */
const meaning = {
  day: {
    ...coloursOf(readFileSync(new URL('../../web/styles/plaster.css', import.meta.url), 'utf8')),
    danger: '#941617',
    success: '#115531',
    white: '#fff',
  },
  night: { danger: '#fdb0ad', success: '#8ee0ab' },
};

/** What stands on what, and the least contrast. */
const lit = ['door', 'door-lo', 'order1', 'field'];
const pairs: [inks: string[], grounds: string[], least: number][] = [
  [['text', 'muted', 'accent', 'danger', 'success'], lit, 7],
  [['text', 'muted'], ['floor'], 7],
  [['accent', 'text'], ['accent-quiet'], 7],
  [['white'], ['off'], 4.5],
  [['on-accent'], ['accent-fill', 'accent-hover'], 7],
  [['edge', 'accent-edge', 'accent', 'off'], lit, 3],
  [['accent'], ['floor'], 3],
];

it('BR-01 the pages and emails of any brand are legible: a grid over all of sRGB, and between', () => {
  for (const brand of [...brands, ...grid]) expectLegible(brand);
  const anyColour = fc.integer({ min: 0, max: 0xffffff }).map((number) => `#${number.toString(16).padStart(6, '0')}`);
  fc.assert(fc.property(anyColour, expectLegible));
});

it('refuses as an accent what is no colour', () => {
  for (const text of ['red}body{display:none', '</style><script>', 'red;--x:1', 'url("x")', 'red', '#12345', ''])
    expect(() => brandStyle(text), text).toThrow('Not a colour as #rgb or #rrggbb');
});

/** Every text at least 7:1, every edge that bounds a control and the focus ring at least 3:1 (WCAG 2.2, 1.4.6, 1.4.11). */
function expectLegible(brand: string): void {
  const { day, night } = brandColours(brand);
  const byDay = { ...coloursOf(day), ...meaning.day };
  const byNight = { ...byDay, ...coloursOf(night), ...meaning.night };
  expect([...tooFaint(byDay), ...tooFaint(byNight)], brand).toEqual([]);
}

function tooFaint(all: Colours): string[] {
  return pairs.flatMap(([inks, grounds, least]) =>
    inks.flatMap((ink) =>
      grounds.flatMap((ground) => {
        const contrast = contrastOf(all[ink] ?? '', all[ground] ?? '');
        return contrast >= least ? [] : [`${ink} on ${ground}: ${contrast.toFixed(2)}`];
      }),
    ),
  );
}

function coloursOf(declarations: string): Colours {
  return Object.fromEntries(
    [...declarations.matchAll(/--([\w-]+): ?(#\w+)/g)].map(([, name, colour]) => [name, colour]),
  );
}

function hexByte(part: number): string {
  return part.toString(16).padStart(2, '0');
}
