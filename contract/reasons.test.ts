import { describe, expect, it } from 'vitest';
import { loginFailTypeOf, reasonOfSearch } from './reasons.ts';

describe('the reason in a query', () => {
  it.each([
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
  ])('%j is %j', (search, reason) => expect(reasonOfSearch(search)).toBe(reason));
});

describe('the login-fail type', () => {
  it.each(['default', 'ip', 'oidc', 'saml', 'passkey'])('%s', (type) => expect(loginFailTypeOf(type)).toBe(type));
  it.each(['', 'IP', 'constructor', '__proto__', 'x'])('%j is default', (text) =>
    expect(loginFailTypeOf(text)).toBe('default'),
  );
});
