import { describe, expect, it } from 'vitest';
import { brandColours } from './brand-colours.ts';
import { styleText } from './render.tsx';

type Colours = Record<string, string>;

const brands = ['#21489c', '#f80', '#ff0000', '#FFFF00', '#000', '#fff', '#00ff00', '#0000ff', '#7a1fa2', '#9e9e9e'];
/** Every hue, dark to light, dull to vivid. */
const sweep = [0, 85, 170, 255].flatMap((r) =>
  [0, 85, 170, 255].flatMap((g) => [0, 85, 170, 255].map((b) => `#${[r, g, b].map(hexByte).join('')}`)),
);

it('the default brand’s colours are those that browsers derived until now', () => {
  const { day, night } = brandColours('#21489c');
  expect(coloursOf(day)).toMatchObject({
    accent: '#173c8f',
    'accent-fill': '#1d4397',
    'accent-edge': '#21489c',
    text: '#131b28',
    muted: '#3b4350',
    line: '#d5d9e1',
    edge: '#868c99',
  });
  expect(coloursOf(night)).toMatchObject({
    accent: '#a5c7ff',
    wall: '#080b12',
    door: '#161f31',
    'door-lo': '#1a263f',
    return3: '#0d1524',
    text: '#f1f3f8',
    edge: '#7a808d',
    field: '#101621',
  });
});

it('day and night set the same properties', () => {
  const { day, night } = brandColours('#21489c');
  expect(Object.keys(coloursOf(night)).sort()).toEqual(Object.keys(coloursOf(day)).sort());
});

it('a bright brand keeps a bright button with a dark label, and one a little darker gets a deep button', () => {
  const buttonOf = (brand: string) => {
    const { 'accent-fill': fill = '', 'on-accent': label = '' } = coloursOf(brandColours(brand).day);
    return luminance(fill) > luminance(label) ? 'bright' : 'deep';
  };
  expect([buttonOf('#ff5722'), buttonOf('#3498db')]).toEqual(['bright', 'deep']);
});

describe.each([...brands, ...sweep])('the colours of %s', (brand) => {
  it.each(['day', 'night'] as const)('are legible by %s', (time) => {
    const of = coloursOf(brandColours(brand)[time]);
    const contrastOf = (one: string, other: string) => contrast(of[one] ?? '', of[other] ?? '');
    for (const text of ['accent', 'text', 'muted']) {
      for (const behind of ['door', 'door-lo', 'order1', 'field'])
        expect(contrastOf(text, behind), `${text} on ${behind}`).toBeGreaterThanOrEqual(7);
      if (text !== 'accent') expect(contrastOf(text, 'floor'), `${text} on floor`).toBeGreaterThanOrEqual(7);
    }
    expect(contrastOf('on-accent', 'accent-fill'), 'a button’s label').toBeGreaterThanOrEqual(7);
    expect(contrastOf('on-accent', 'accent-hover'), 'a button’s label under the pointer').toBeGreaterThanOrEqual(7);
    expect(contrastOf('accent-off', 'accent-quiet'), 'a disabled button’s label').toBeGreaterThanOrEqual(4.5);
    for (const edge of ['edge', 'accent-edge'])
      expect(contrastOf(edge, 'door'), `${edge} on door`).toBeGreaterThanOrEqual(3);
  });

  it('reach the style of a page, by night only on a screen', () => {
    const { day, night } = brandColours(brand);
    expect(styleText(brand)).toContain(`:root{${day}}@media screen and (prefers-color-scheme:dark){:root{${night}}}`);
  });
});

function coloursOf(declarations: string): Colours {
  return Object.fromEntries(declarations.split(';').map((one) => one.slice(2).split(':') as [string, string]));
}

function hexByte(part: number): string {
  return part.toString(16).padStart(2, '0');
}

function contrast(one: string, other: string): number {
  const [light = 0, dark = 0] = [one, other].map(luminance).sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(hex: string): number {
  const digits = hex.length === 4 ? hex.replace(/\w/g, '$&$&') : hex;
  const [r = 0, g = 0, b = 0] = (digits.match(/\w\w/g) ?? []).map((pair) => {
    const part = Number.parseInt(pair, 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
