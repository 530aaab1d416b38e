import { describe, expect, test } from 'vitest';
import { contrastOf, luminanceOf } from '#contract/colour.ts';
import { eachRow } from '#test/support/runs-all.ts';
import { type MailColours, mailLayoutColours } from './layout-colours.ts';

const steps = ['00', '33', '66', '99', 'cc', 'ff'];
const everySortOfColour = steps.flatMap((r) => steps.flatMap((g) => steps.map((b) => `#${r}${g}${b}`)));

const pairs: [ink: keyof MailColours, ground: keyof MailColours, least: number][] = [
  ['label', 'fill', 7],
  ['text', 'door', 7],
  ['muted', 'door', 7],
  ['text', 'order', 7],
  ['muted', 'order', 7],
  ['muted', 'floor', 7],
  ['accent', 'door', 7],
  ['edge', 'door', 3],
];

describe.each(['day', 'night'] as const)('by %s', (theme) => {
  test('BR-01 every text is readable for any configured colour', () =>
    eachRow(pairs, ([ink, ground, least]) => {
      for (const accent of [null, '#ff0', '#fff', '#000', '#21489c', '#ffcc00', '#e30613', ...everySortOfColour]) {
        const colours = mailLayoutColours(accent)[theme];
        expect(contrastOf(colours[ink], colours[ground]), `${accent}`).toBeGreaterThanOrEqual(least);
      }
    }));
});

test('a dark colour is the button’s own, a bright one keeps its brightness under a dark label', () => {
  expect(mailLayoutColours('#002244').day).toMatchObject({ fill: '#002244', label: '#ffffff' });
  const { fill, label } = mailLayoutColours('#ffcc00').day;
  expect(luminanceOf(fill)).toBeGreaterThan(0.6);
  expect(luminanceOf(label)).toBeLessThan(0.02);
});
