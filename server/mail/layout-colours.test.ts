import { describe, expect, test } from 'vitest';
import { type MailColours, mailLayoutColours } from './layout-colours.ts';

/** Relative luminance and contrast as WCAG 2.2 defines them. */
const luminance = (hex: string) => {
  const [r, g, b] = [1, 3, 5].map((at) => {
    const channel = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const contrast = (one: string, other: string) => {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b) as [number, number];
  return (light + 0.05) / (dark + 0.05);
};

const steps = ['00', '33', '66', '99', 'cc', 'ff'];
const everySortOfColour = steps.flatMap((r) => steps.flatMap((g) => steps.map((b) => `#${r}${g}${b}`)));

const pairs: [ink: keyof MailColours, ground: keyof MailColours, least: number][] = [
  ['label', 'fill', 4.5],
  ['text', 'door', 7],
  ['muted', 'door', 7],
  ['text', 'order', 7],
  ['muted', 'order', 7],
  ['muted', 'floor', 4.5],
  ['accent', 'door', 4.5],
  ['edge', 'door', 3],
];

describe.each(['day', 'night'] as const)('by %s', (theme) => {
  test.each(pairs)('%s on %s is readable for any configured colour', (ink, ground, least) => {
    for (const accent of [null, '#ff0', '#fff', '#000', '#21489c', '#ffcc00', '#e30613', ...everySortOfColour]) {
      const colours = mailLayoutColours(accent)[theme];
      expect(contrast(colours[ink], colours[ground]), `${accent}`).toBeGreaterThanOrEqual(least);
    }
  });
});

test('a dark colour is the button’s own, a bright one keeps its brightness under a dark label', () => {
  expect(mailLayoutColours('#002244').day).toMatchObject({ fill: '#002244', label: '#ffffff' });
  const { fill, label } = mailLayoutColours('#ffcc00').day;
  expect(luminance(fill)).toBeGreaterThan(0.6);
  expect(luminance(label)).toBeLessThan(0.02);
});
