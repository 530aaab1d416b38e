import { expect, it } from 'vitest';
import { eachRow } from '#test/support/runs-all.ts';
import { readMaxAuthenticationAge } from './read-connection.ts';

it('SA-44 a maximum age is read in seconds', () =>
  eachRow(
    [
      ['30m', 1800],
      ['12h', 43_200],
      ['7d', 604_800],
      ['off', null],
    ],
    ([text, value]) => {
      expect(readMaxAuthenticationAge(text)).toEqual({ kind: 'ok', value });
    },
  ));

it('SA-44 what is no maximum age is refused, and the flag is named', () =>
  eachRow(['', '0m', '7', '-1h', '1w', '1.5h', '999999d', 'on', '12 h', '12h\n'], (text) => {
    expect(readMaxAuthenticationAge(text)).toEqual({
      kind: 'refused',
      problem: expect.stringContaining('--max-authentication-age'),
    });
  }));
