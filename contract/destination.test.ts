import { describe, expect, it } from 'vitest';
import {
  acceptableDestination,
  type DestinationRules,
  destinationAfterTwoFactor,
  longestDestination,
  redirectValue,
} from './destination.ts';

const rules: DestinationRules = {
  origin: 'https://portal.example',
  basePath: '/portal',
  allowedOrigins: ['https://old.example'],
};

const accept = (value: string) => acceptableDestination(value, rules);
const nothing = { loginHashFragment: null, redirectOldWebbundleUrl: null };

const refused: [string, string[]][] = [
  ['OR-01 another site', ['https://evil.example/', 'https://evil.example', 'HTTPS://evil.example/']],
  ['an address without scheme', ['//evil.example', '//evil.example/portal', '//portal.example@evil.example']],
  ['OR-03 many slashes', ['///evil.example', '////evil.example']],
  ['OR-04 backslashes', ['/\\evil.example', '\\\\evil.example', '\\/evil.example', '/portal\\..\\evil']],
  [
    'OR-05 control characters',
    ['/\t/evil.example', '/\n/evil.example', '/\r/evil.example', '\t//evil.example', '\n/portal', '/portal\u0000'],
  ],
  ['OR-07 a scheme without its slashes', ['https:evil.example', 'https:/evil.example', 'http:evil', 'https:/portal']],
  ['script', ['javascript:alert(1)', 'JaVaScRiPt:alert(1)', ' javascript:alert(1)', 'java\nscript:alert(1)']],
  [
    'OR-09 other schemes',
    ['data:text/html,x', 'vbscript:x', 'blob:https://portal.example/x', 'file:///etc/passwd', 'ftp://portal.example/'],
  ],
  ['OR-10 names before @', ['https://portal.example@evil.example/', 'https://portal.example%40evil.example']],
  ['OR-11 names and backslashes', ['https://portal.example\\@evil.example', 'https://evil.example\\@portal.example']],
  [
    'OR-12 look-alikes',
    ['https://portal.example.evil.example', 'https://evilportal.example', 'https://old.example.evil'],
  ],
  [
    'OR-13 the word webbundle is not trust',
    ['https://evil.example/?webbundle', 'https://evil.example/webbundle', '//evil/#webbundle'],
  ],
  ['OR-15 dots that lead out', ['/portal/%2e%2e//evil.example', '/portal/..//evil.example', '/./\u002fevil.example']],
  ['OR-16 other dots and letters', ['//evil。example', '//ｅvil.example', '//evil.example%E3%80%82']],
  ['OR-17 a lone surrogate', ['/portal/\ud800', '/\udfff']],
  ['OR-18 no boundary after the base path', ['/portal.evil', '/portalevil', '/portal@evil', '/portal:80@evil']],
  [
    'OR-19 our name, not our origin',
    ['http://portal.example/', 'https://portal.example:444/', 'http://old.example/', 'https://old.example:444/'],
  ],
  ['OR-22 too long', [`/portal/${'x'.repeat(10_000)}`, `/portal/${'x'.repeat(longestDestination)}`]],
  ['OR-23 a line break for a header', ['/portal\r\nSet-Cookie: a=b', '/portal/x\nLocation: //evil.example']],
  ['names and passwords at a listed origin', ['https://user@old.example/', 'https://user:pass@old.example/']],
  ['where providers answer', ['/portal/authenticate/oidc/callback', '/portal/authenticate/oidc/callback/acme?code=x']],
  ['signing out', ['/portal/logout', '/portal/logout/', '/portal/x/../logout?a#b']],
  ['nothing at all', ['', ' ', '#x', '?x', 'portal', 'portal/x', './x', '../x']],
];

describe.each(refused)('refuses %s', (_name, values) => {
  it.each(values)('%j', (value) => expect(accept(value)).toBeNull());
});

describe('accepts', () => {
  it.each([
    ['the portal', '/portal', '/portal'],
    ['OR-27 a hub page, kept exactly', '/portal/portal.html#/a?b=c', '/portal/portal.html#/a?b=c'],
    ['a path beside the portal', '/reports/7?x=1#y', '/reports/7?x=1#y'],
    ['the portal with a fragment', '/portal#/reports/7', '/portal#/reports/7'],
    ['a listed origin', 'https://old.example/webbundle?x', 'https://old.example/webbundle?x'],
    ['dots, as the parser reads them', '/portal/a/../b', '/portal/b'],
    ['OR-17 odd characters, encoded', '/portal/\u2028\ufeff', '/portal/%E2%80%A8%EF%BB%BF'],
    ['OR-18 a path with the base path inside', '/other/portal.evil', '/other/portal.evil'],
    ['the longest', `/portal/${'x'.repeat(longestDestination - 8)}`, `/portal/${'x'.repeat(longestDestination - 8)}`],
  ])('%s', (_name, value, expected) => expect(accept(value)).toBe(expected));
});

describe('OR-06 encoded slashes stay on our origin, decoded at most once', () => {
  it.each(['/%2f/evil.example', '/%5cevil.example', '/%252f%252fevil.example', '/%09/evil.example'])('%j', (value) => {
    const accepted = accept(value);
    expect(accepted).not.toBeNull();
    expect(new URL(accepted as string, rules.origin).origin).toBe(rules.origin);
    expect(accepted).toBe(value);
  });

  it.each(['%2f%2fevil.example', '%252f%252fevil.example'])('%j is no path', (value) =>
    expect(accept(value)).toBeNull(),
  );
});

describe('the redirect value sent with sign-in', () => {
  it.each([
    ['the portal path by default', nothing, null, '/portal'],
    ['a saved fragment', { ...nothing, loginHashFragment: '/reports/7' }, null, '/portal#/reports/7'],
    ['what the address asked for', nothing, '/portal/portal.html?a=1', '/portal/portal.html?a=1'],
    ['both', { ...nothing, loginHashFragment: '/r' }, '/portal/portal.html?a=1', '/portal/portal.html?a=1#/r'],
    ['not two fragments', { ...nothing, loginHashFragment: '/r' }, '/portal/x#y', '/portal/x#y'],
    ['an evil request', nothing, 'https://evil.example/', '/portal'],
    [
      'the old web bundle first',
      { loginHashFragment: '/r', redirectOldWebbundleUrl: '/webbundle/x' },
      '/y',
      '/webbundle/x',
    ],
    ['an evil web bundle', { ...nothing, redirectOldWebbundleUrl: 'https://evil.example/webbundle' }, null, '/portal'],
    ['an address saved by two-factor', { ...nothing, loginHashFragment: '/portal#/r' }, null, '/portal#/r'],
    [
      'a listed address saved',
      { ...nothing, loginHashFragment: 'https://old.example/a' },
      null,
      'https://old.example/a',
    ],
    [
      'OR-25 script saved',
      { ...nothing, loginHashFragment: 'javascript:alert(1)' },
      null,
      '/portal#javascript:alert(1)',
    ],
    ['OR-25 another host saved', { ...nothing, loginHashFragment: '//evil' }, null, '/portal#//evil'],
    ['OR-25 another site saved', { ...nothing, loginHashFragment: 'https://evil' }, null, '/portal#https://evil'],
  ])('is %s', (_name, saved, askedFor, expected) => {
    const value = redirectValue(saved, askedFor, rules);
    expect(value).toBe(expected);
    expect(acceptableDestination(value, rules)).not.toBeNull();
  });
});

describe('the destination after the second factor', () => {
  it.each([
    ['the hub by default', null, '/portal/portal.html'],
    ['a saved address', '/portal/portal.html#/a', '/portal/portal.html#/a'],
    ['a saved fragment', '/reports/7', '/portal#/reports/7'],
    ['OR-25 script saved', 'javascript:alert(1)', '/portal#javascript:alert(1)'],
    ['OR-25 another host saved', '//evil.example', '/portal#//evil.example'],
  ])('is %s', (_name, loginHashFragment, expected) =>
    expect(destinationAfterTwoFactor({ loginHashFragment, redirectOldWebbundleUrl: '/webbundle' }, rules)).toBe(
      expected,
    ),
  );
});
