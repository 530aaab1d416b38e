import { describe, expect, it } from 'vitest';
import { eachRow } from '#test/support/runs-all.ts';
import { noticeOfSearch } from './notices.ts';
import { loginFailTypeOf, reasonOfSearch } from './reasons.ts';

describe('the reason in a query', () => {
  it('is read from the query', () =>
    eachRow(
      [
        ['?reason=3', 3],
        ['?3', 3],
        ['?11', 11],
        ['?3=&lang=de', 3],
        ['?lang=de&reason=10', 10],
        ['?reason=1&3', 1],
        ['', null],
        ['?12', null],
        ['?reason=12', null],
        ['?reason=-1', null],
        ['?reason=constructor', null],
        ['?lang=de&3', null],
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

it('the notice of an address is one of the list, or none', () =>
  eachRow(
    [
      ['?notice=signInExpired', 'signInExpired'],
      ['?lang=de&notice=codeWrong', 'codeWrong'],
      ['?notice=constructor', null],
      ['?notice=<b>', null],
      ['', null],
    ],
    ([search, notice]) => expect(noticeOfSearch(search)).toBe(notice),
  ));
