import { describe, expect, it } from 'vitest';
import { eachRow } from '#test/support/runs-all.ts';
import { loginFailTypeOf, reasonOfSearch } from './reasons.ts';

describe('the reason in a query', () => {
  it('is read from the query', () =>
    eachRow(
      [
        ['?reason=3', 3],
        ['?3', 3],
        ['?11', 11],
        ['?3=', 3],
        ['?3&lang=de', 3],
        ['?3=&lang=de', 3],
        ['?lang=de&reason=10', 10],
        ['?reason=1&3', 1],
        ['', null],
        ['?', null],
        ['?0', null],
        ['?12', null],
        ['?reason=12', null],
        ['?reason=-1', null],
        ['?reason=1e0', null],
        ['?reason= 1', null],
        ['?reason=', null],
        ['?reason=constructor', null],
        ['?lang=de&3', null],
        ['?3=4', null],
        ['?99999999999999999999', null],
        ['?3x', null],
      ],
      ([search, reason]) => expect(reasonOfSearch(search)).toBe(reason),
    ));
});

describe('the login-fail type', () => {
  it('is one of the list', () =>
    eachRow(['default', 'ip', 'oidc', 'saml', 'passkey'], (type) => expect(loginFailTypeOf(type)).toBe(type)));
  it('is the default otherwise', () =>
    eachRow(['', 'IP', 'constructor', '__proto__', 'x'], (text) => expect(loginFailTypeOf(text)).toBe('default')));
});
