import { expect, it } from 'vitest';
import { clockOffsetOf, minutesOff } from './clock-offset.ts';

it.each([
  ['90', 90],
  ['-300', -300],
  ['0', null],
  ['', null],
  [null, null],
  ['+90', null],
  ['9.5', null],
  ['1e9', null],
  ['<b>', null],
  ['99999999', null],
])('a reported offset of %j is %j seconds', (text, seconds) => expect(clockOffsetOf(text)).toBe(seconds));

it.each([
  [60, 1],
  [-60, 1],
  [90, 1.5],
  [-570, 9.5],
  [44, 0.5],
  [1, 0.5],
])('%i seconds round to %d minutes', (seconds, minutes) => expect(minutesOff(seconds)).toBe(minutes));
