import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { plainAccent } from './plain-accent.ts';
import { styleText } from './render.tsx';

const tokens = readFileSync(new URL('./styles/tokens.css', import.meta.url), 'utf8');
const declared = (name: string) => [...tokens.matchAll(new RegExp(`${name}: (#\\w+);`, 'g'))].map((match) => match[1]);

it('tokens.css has the plain accents of the default brand', () => {
  const { day, night } = plainAccent(declared('--brand')[0] as string) ?? {};
  expect(declared('--plain')).toEqual([day, night]);
});

describe.each(['#f80', '#ff0000', '#FFFF00', '#000', '#fff', '#00ff00', '#0000ff', '#7a1fa2', '#9e9e9e'])(
  'the plain accents of %s',
  (brand) => {
    const { day = '', night = '' } = plainAccent(brand) ?? {};
    it('are legible as text, and under the label of a button', () => {
      expect(contrast(day, '#ffffff')).toBeGreaterThanOrEqual(7);
      expect(contrast(night, '#161f31')).toBeGreaterThanOrEqual(7);
    });
    it('reach the style of a page', () =>
      expect(styleText(brand)).toContain(
        `:root{--plain:${day}}@media (prefers-color-scheme:dark){:root{--plain:${night}}}`,
      ));
  },
);

it.each(['rebeccapurple', 'oklch(0.5 0.1 20)', 'rgb(1 2 3)', '#12345', '#12345678'])(
  '%s keeps those of the default brand',
  (brand) => {
    expect(plainAccent(brand)).toBeNull();
    expect(styleText(brand)).not.toContain('null');
    expect(styleText(brand)).toContain(`:root{--brand:${brand}}`);
  },
);

function contrast(one: string, other: string): number {
  const [light = 0, dark = 0] = [one, other].map(luminance).sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(hex: string): number {
  const [r = 0, g = 0, b = 0] = (hex.match(/\w\w/g) ?? []).map((pair) => {
    const part = Number.parseInt(pair, 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
