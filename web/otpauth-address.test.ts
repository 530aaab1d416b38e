import { expect, it } from 'vitest';
import { otpauthAddress } from './components/registration-steps.tsx';

it.each([
  ['Café & Söhne', 'ada+x@acme.test'],
  ['a/b?secret=x#y', 'c&issuer=z'],
])('the address that opens an authenticator app keeps %j and %j apart', (issuer, account) => {
  const url = new URL(otpauthAddress('AB', issuer, account));
  expect([url.protocol, url.host, url.hash]).toEqual(['otpauth:', 'totp', '']);
  expect(url.pathname.slice(1).split(':').map(decodeURIComponent)).toEqual([issuer, account]);
  expect(Object.fromEntries(url.searchParams)).toEqual({ secret: 'AB', issuer });
});

it('drops colons that would separate them elsewhere', () =>
  expect(otpauthAddress('AB', 'a:b', 'c:d')).toMatch(/^otpauth:\/\/totp\/a%20b:c%20d\?/));
