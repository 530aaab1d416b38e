import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { eachRow } from '#test/support/runs-all.ts';
import {
  acceptableDestination,
  type DestinationRules,
  destinationAfterTwoFactor,
  destinationInLanguage,
  longestDestination,
  redirectValue,
} from './destination.ts';

const rules: DestinationRules = {
  origin: 'https://portal.example',
  basePath: '/portal',
  allowedOrigins: ['https://old.example'],
};

const accept = (value: string) => acceptableDestination(value, rules);
const nothing = { loginHashFragment: null, loginHashFragmentFrom: null, redirectOldWebbundleUrl: null };
/** What another page of the hub saved is read so too. */
const fromHash = (loginHashFragment: string) => ({ ...nothing, loginHashFragment });
const fromAddress = (loginHashFragment: string) => ({
  ...nothing,
  loginHashFragment,
  loginHashFragmentFrom: 'redirectURL' as const,
});

const refused: [string, string[]][] = [
  ['OR-01 another site', ['https://evil.example/', 'https://evil.example', 'HTTPS://evil.example/', '//evil.example']],
  ['OR-03 many slashes', ['///evil.example', '////evil.example']],
  ['OR-04 backslashes', ['/\\evil.example', '\\\\evil.example', '\\/evil.example', '/portal\\..\\evil', 'x\\..\\evil']],
  [
    'OR-05 control characters',
    ['/\t/evil.example', '\t//evil.example', '\n/portal', '/portal\u0000', '/a\u009f', 'x\ty'],
  ],
  [
    'OR-07 a scheme without its slashes',
    ['https:evil.example', 'https:/evil.example', 'HTTPS:portal', 'http:x', 'a:b'],
  ],
  ['script', ['javascript:alert(1)', 'JaVaScRiPt:alert(1)', ' javascript:alert(1)', 'java\nscript:alert(1)']],
  [
    'OR-09 other schemes',
    ['data:text/html,x', 'blob:https://portal.example/x', 'file:///etc/passwd', 'ftp://portal.example/'],
  ],
  [
    'OR-10 names before @',
    ['https://portal.example@evil.example/', 'https://a@portal.example/', 'https://user@old.example/'],
  ],
  ['OR-11 names and backslashes', ['https://portal.example\\@evil.example', 'https://evil.example\\@portal.example']],
  ['OR-12 look-alikes', ['https://portal.example.evil.example', 'https://evilportal.example', 'HTTPS://OLD.EXAMPLE.']],
  ['OR-13 the word webbundle is not trust', ['https://evil.example/?webbundle', '//evil/#webbundle']],
  ['OR-15 dots that lead out', ['/portal/%2e%2e//evil.example', '/portal/..//evil', 'login/../..//evil', '..//evil']],
  ['OR-15 dots in an address of ours', ['https://portal.example//evil', 'https://portal.example/x/..//evil']],
  ['OR-16 other dots and letters', ['//evil。example', '//ｅvil.example', '//evil.example%E3%80%82']],
  ['OR-17 a lone surrogate', ['/portal/\ud800', '/\udfff']],
  ['OR-18 no boundary after the base path', ['/portal.evil', '/portal@evil', '/portal:80@evil', '../portalevil']],
  [
    'OR-19 our name, not our origin',
    ['http://portal.example/', 'https://portal.example:444/', 'HTTP://OLD.EXAMPLE:443/'],
  ],
  ['OR-22 too long', [`/portal/${'x'.repeat(longestDestination)}`, `/${'ü'.repeat(800)}`]],
  ['OR-23 a line break for a header', ['/portal\r\nSet-Cookie: a=b', '/portal/x\nLocation: //evil.example']],
  ['where providers answer', ['/portal/authenticate/oidc/callback', '/portal/authenticate/oidc/callback/acme?code=x']],
  ['signing out', ['/portal/logout', '/portal/logout/', '/portal/x/../logout?a#b', 'logout', '../portal/logout/']],
  ['nothing at all', ['', ' ', ' x', ' /portal', ' https://portal.example/']],
];

it.each(refused)('refuses %s', (_name, values) => eachRow(values, (value) => expect(accept(value)).toBeNull()));

it('accepts what stays on this origin or goes to a listed one', () =>
  eachRow(
    [
      ['the portal', '/portal', '/portal'],
      ['OR-27 a hub page, kept exactly', '/portal/portal.html#/a?b=c', '/portal/portal.html#/a?b=c'],
      ['a path beside the portal', '/reports/7?x=1#y', '/reports/7?x=1#y'],
      ['a listed origin', 'https://old.example/webbundle?x', 'https://old.example/webbundle?x'],
      ['a listed origin as others may write it', 'HTTPS://Old.Example:443/W?X', 'https://old.example/W?X'],
      ['dots, as the parser reads them', '/portal/a/../b', '/portal/b'],
      ['OR-17 odd characters, encoded', '/portal/\u2028\ufeff', '/portal/%E2%80%A8%EF%BB%BF'],
      ['OR-18 a path with the base path inside', '/other/portal.evil', '/other/portal.evil'],
      ['an address of this origin, reduced', 'https://portal.example/hub/app?x=1#y', '/hub/app?x=1#y'],
      ['a fragment, against the sign-in form', '#/reports/7', '/portal/login#/reports/7'],
      ['a name beside the sign-in form', 'portal.html#/a', '/portal/portal.html#/a'],
      ['OR-15 slashes after a folder of ours', './/evil', '/portal//evil'],
      ['a page that is no UTF-8', '/app/caf%E9', '/app/caf%E9'],
      ['400 letters', `/app?q=${'%C3%BC'.repeat(400)}`, `/app?q=${'%C3%BC'.repeat(400)}`],
      ['OR-06 slashes that stay encoded', '%2f%2fevil.example', '/portal/%2f%2fevil.example'],
    ],
    ([_name, value, expected]) => {
      expect(accept(value)).toBe(expected);
      expect(accept(expected), 'what is accepted is accepted again').toBe(expected);
    },
  ));

it('OR-06 encoded slashes stay as they are, on our origin', () =>
  eachRow(['/%2f/evil.example', '/%5cevil.example', '/%252f%252fevil.example', '/%09/evil.example'], (value) =>
    expect(accept(value)).toBe(value),
  ));

it('the redirect value sent with sign-in is chosen in order', () =>
  eachRow(
    [
      ['the portal path by default', nothing, null, '/portal'],
      ['a saved fragment', fromHash('/reports/7'), null, '/portal#/reports/7'],
      ['what the address asked for', nothing, '/portal/portal.html?a=1', '/portal/portal.html?a=1'],
      ['both', fromHash('/r'), '/portal/portal.html?a=1', '/portal/portal.html?a=1#/r'],
      ['not two fragments', fromHash('/r'), '/portal/x#y', '/portal/x#y'],
      ['an evil request', nothing, 'https://evil.example/', '/portal'],
      [
        'the old web bundle first',
        { ...fromHash('/r'), redirectOldWebbundleUrl: '/webbundle/x' },
        '/y',
        '/webbundle/x',
      ],
      ['an address saved by two-factor', fromAddress('/portal#/r'), null, '/portal#/r'],
      ['a saved address that is refused: nothing', fromAddress('https://evil.example/'), '/y', '/y'],
      ['OR-25 a script that two-factor saved', fromAddress('javascript:alert(1)'), null, '/portal'],
      ['OR-25 script saved', fromHash('javascript:alert(1)'), null, '/portal#javascript:alert(1)'],
      ['OR-25 another host saved', fromHash('//evil'), null, '/portal#//evil'],
    ],
    ([_name, saved, askedFor, expected]) => {
      const value = redirectValue(saved, askedFor, rules);
      expect(value).toBe(expected);
      expect(acceptableDestination(value, rules)).not.toBeNull();
    },
  ));

it('the destination after the second factor is the saved value, or the default', () =>
  eachRow(
    [
      ['the hub by default', nothing, '/portal/portal.html'],
      ['a saved address', fromAddress('/portal/portal.html#/a'), '/portal/portal.html#/a'],
      ['a whole address of ours', fromAddress('https://portal.example/hub/app'), '/hub/app'],
      ['a saved fragment', fromHash('/reports/7'), '/portal#/reports/7'],
      ['OR-25 a script in the address', fromAddress('javascript:alert(1)'), '/portal/portal.html'],
      ['OR-25 another site in the address', fromAddress('https://evil.example/'), '/portal/portal.html'],
      ['OR-25 a script in a hash', fromHash('javascript:alert(1)'), '/portal#javascript:alert(1)'],
    ],
    ([_name, saved, expected]) =>
      expect(destinationAfterTwoFactor({ ...saved, redirectOldWebbundleUrl: '/webbundle' }, rules)).toBe(expected),
  ));

const origins = [rules.origin, ...rules.allowedOrigins];

/** What addresses are made of, and what parsers have disagreed about. */
const parts = fc.constantFrom(
  ...['/ // \\ . .. /.. /./ @ : ? # & ; = %'.split(' '), [' ', '\t', '\n', '\u0000', '\u00a0']].flat(),
  ...['%2f', '%5c', '%2e', '%09', '%0a', '%00', '%252f', '%ff', '%40', '%3a', ':443', ':80', ':8443', 'user:pass@'],
  ...['https:', 'http:', 'HTTPS:', 'javascript:', 'data:', 'blob:', 'ftp:', 'file:', 'view-source:', '[::1]', '0x7f.1'],
  ...['portal.example', 'old.example', 'evil.example', 'PORTAL.example', 'portal.example.evil.example'],
  ...['portal', 'login', 'logout', 'performlogin', 'webbundle', 'ｐortal', '。', '⁄', '／'],
);
const value = fc.oneof(
  fc.array(parts, { maxLength: 12 }).map((texts) => texts.join('')),
  fc
    .tuple(
      fc.constantFrom('/', 'https://portal.example', 'https://old.example/', '/portal/'),
      fc.array(parts, { maxLength: 8 }),
    )
    .map(([start, texts]) => start + texts.join('')),
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.webUrl({ withFragments: true, withQueryParameters: true }),
);

describe('OR-01 any destination', () => {
  it('that is accepted leads a browser to this origin, or to one that is listed, whatever page it is on', () => {
    let accepted = 0;
    const pages = ['/portal/login', '/portal/authenticate/finish', '/portal/', '/'];
    fc.assert(
      fc.property(value, fc.constantFrom(...pages), (text, page) => {
        const destination = acceptableDestination(text, rules);
        if (destination === null) return;
        accepted += 1;
        const { origin, username, password } = new URL(destination, rules.origin + page);
        expect([username, password]).toEqual(['', '']);
        expect(origins, text).toContain(origin);
        // What a header or an attribute can carry as it is.
        expect(destination).toMatch(/^(?:\/(?!\/)|https:\/\/)[\x21-\x7e]*$/);
      }),
    );
    expect(accepted).toBeGreaterThan(10);
  });
});

it('the default destination is in the language that was chosen, others are as they were', () =>
  eachRow(
    [
      ['/portal', 'pl', '/portal/?lang=pl'],
      ['/portal#/reports/7', 'pl', '/portal/?lang=pl#/reports/7'],
      ['/portal', undefined, '/portal'],
      ['/portal/portal.html?tab=2', 'pl', '/portal/portal.html?tab=2'],
      ['/hub/app#/x', 'pl', '/hub/app#/x'],
      ['https://hub.example/', 'pl', 'https://hub.example/'],
    ],
    ([destination, language, expected]) => {
      expect(destinationInLanguage(destination, '/portal', language)).toBe(expected);
    },
  ));
