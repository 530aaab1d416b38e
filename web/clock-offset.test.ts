import { expect, it } from 'vitest';
import { eachRow } from '#testing/runs-all.ts';
import { clockOffsetOf, minutesOff } from './clock-offset.ts';

it('a reported offset is read in seconds', () =>
  eachRow(
    [
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
    ],
    ([text, seconds]) => expect(clockOffsetOf(text)).toBe(seconds),
  ));

it('seconds round to minutes', () =>
  eachRow(
    [
      [60, 1],
      [-60, 1],
      [90, 1.5],
      [-570, 9.5],
      [44, 0.5],
      [1, 0.5],
    ],
    ([seconds, minutes]) => expect(minutesOff(seconds)).toBe(minutes),
  ));
