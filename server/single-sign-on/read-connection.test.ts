import { expect, it } from 'vitest';
import { readMaxAuthenticationAge } from './read-connection.ts';

it.each([
  ['30m', 1800],
  ['12h', 43_200],
  ['7d', 604_800],
  ['off', null],
])('SA-44 a maximum age of %s is %s seconds', (text, value) => {
  expect(readMaxAuthenticationAge(text)).toEqual({ kind: 'ok', value });
});

it.each(['', '0m', '7', '-1h', '1w', '1.5h', '999999d', 'on', '12 h', '12h\n'])(
  'SA-44 %j is not a maximum age, and the flag is named',
  (text) => {
    expect(readMaxAuthenticationAge(text)).toEqual({
      kind: 'refused',
      problem: expect.stringContaining('--max-authentication-age'),
    });
  },
);
