import { describe, expect, it } from 'vitest';
import { otpauthAddress } from './components/registration-steps.tsx';

describe('the address that opens an authenticator app', () => {
  it('names issuer, account and secret', () =>
    expect(otpauthAddress('JBSWY3DP', 'Vestibule', 'ada')).toBe(
      'otpauth://totp/Vestibule:ada?secret=JBSWY3DP&issuer=Vestibule',
    ));

  it.each([
    ['Café & Söhne', 'ada+x@acme.test'],
    ['a/b?secret=x#y', 'c&issuer=z'],
    ['日本', '\ud800'],
  ])('keeps %j and %j apart', (issuer, account) => {
    const url = new URL(otpauthAddress('AB', issuer, account));
    expect([url.protocol, url.host, url.hash]).toEqual(['otpauth:', 'totp', '']);
    expect(url.pathname.slice(1).split(':').map(decodeURIComponent)).toEqual([
      issuer,
      account.replace('\ud800', '\ufffd'),
    ]);
    expect([...url.searchParams]).toEqual([
      ['secret', 'AB'],
      ['issuer', issuer],
    ]);
  });

  it('drops colons that would separate them elsewhere', () => {
    const { pathname } = new URL(otpauthAddress('AB', 'a:b', 'c:d'));
    expect(decodeURIComponent(pathname)).toBe('/a b:c d');
  });
});
