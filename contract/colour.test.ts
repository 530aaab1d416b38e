import { expect, it } from 'vitest';
import { hexOf, mixed, oklchOf } from './colour.ts';

const steps = ['00', '33', '66', '99', 'cc', 'ff'];
const everySortOfColour = steps.flatMap((r) => steps.flatMap((g) => steps.map((b) => `#${r}${g}${b}`)));

it('a round trip returns the same colour', () => {
  for (const colour of everySortOfColour) expect(hexOf(oklchOf(colour))).toBe(colour);
});

it('a mix is as light and as colourful as its parts', () => {
  const [red, white] = [oklchOf('#ff0000'), oklchOf('#ffffff')];
  expect(hexOf(mixed(red, 1, white))).toBe('#ff0000');
  expect(hexOf(mixed(red, 0, white))).toBe('#ffffff');
  const pink = mixed(red, 0.25, white);
  expect(pink.l).toBeCloseTo(red.l * 0.25 + white.l * 0.75);
  expect(pink.c).toBeCloseTo(red.c * 0.25);
  expect(pink.h).toBeCloseTo(red.h);
});
