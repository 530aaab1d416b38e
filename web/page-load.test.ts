import { expect, it } from 'vitest';
import type { DestinationRules } from '#contract/destination.ts';
import { eachRow } from '#test/support/runs-all.ts';
import type { Address } from './addresses.ts';
import { arrive } from './page-load.ts';
import { nothingSaved, type SavedValues } from './saved-values.ts';

const rules: DestinationRules = { origin: 'https://portal.example', basePath: '/portal', allowedOrigins: [] };

function addressOf(url: string): Address {
  const { pathname, search, hash } = new URL(url, rules.origin);
  return { pathname, search, hash };
}

function arriveAt(url: string, saved: Partial<SavedValues> = {}) {
  const { place, saved: after, shown, warning } = arrive(addressOf(url), { ...nothingSaved, ...saved }, rules);
  const type = place.screen.name === 'loginFail' ? `loginFail ${place.screen.type}` : place.screen.name;
  return {
    screen: type,
    search: place.search,
    saved: after,
    shown: shown.pathname + shown.search + shown.hash,
    warning,
  };
}

/** An address, the screen that it shows, and what else differs from an address that nothing happens to. */
type Row = [
  url: string,
  screen: string,
  more?: {
    search?: string;
    /** What is saved, and where it came from. */
    fromHash?: string;
    fromAddress?: string;
    saved?: Partial<SavedValues>;
    link?: string;
    bundle?: string;
    shown?: string;
    before?: Partial<SavedValues>;
    warning?: string;
  },
];

const kept = { passwordHashParameter: 'abc' };

const rows: Record<string, Row[]> = {
  'no hash: the path’s own screen': [
    ['/portal/', 'login'],
    ['/portal', 'login'],
    ['/portal/forgotten?lang=de', 'forgotten'],
    ['/portal/nowhere', 'notFound'],
    ['/portal/loginfail/ip?ipaddress=1.2.3.4', 'loginFail ip'],
    ['/portal/loginfailOIDC', 'loginFail oidc'],
  ],
  'a public hash is left alone, and shows the screen that it names': [
    ['/portal/#/forgottenChangedInfo', 'forgottenChangedInfo'],
    ['/portal/#/forgottenChangeFailedInfo?3', 'forgottenChangeFailedInfo', { search: '?reason=3' }],
    ['/portal/#/forgotten', 'forgotten'],
    ['/portal/#/login?login=anna', 'login', { search: '?login=anna' }],
    ['/portal/#/loginfailIP?ipaddress=1.2.3.4', 'loginFail ip', { search: '?ipaddress=1.2.3.4' }],
    ['/portal/#/twoFactorRegistration', 'twoFactorRegistration'],
    ['/portal/emailInfo#/login', 'login'],
  ],
  'a hash’s own query is its parameters, and then the query of the path': [
    ['/portal/?3#/forgottenChangeFailedInfo', 'forgottenChangeFailedInfo', { search: '?reason=3' }],
    ['/portal/?3#/forgottenChangeFailedInfo?lang=de', 'forgottenChangeFailedInfo', { search: '?lang=de&reason=3' }],
    ['/portal/?reason=5#/forgottenChangeFailedInfo?3', 'forgottenChangeFailedInfo', { search: '?reason=3' }],
    [
      '/portal/?codeSentViaEmail=true#/twoFactor?codeSentViaEmail=false',
      'twoFactor',
      { search: '?codeSentViaEmail=false' },
    ],
    ['/portal/?login=a&destination=%2Fx#/login', 'login'],
  ],
  'a public hash that names no screen shows the path’s own': [
    ['/portal/#/forgottenX', 'login'],
    ['/portal/emailInfo#/loginX', 'emailInfo'],
  ],
  'any other hash is saved, and leads to the sign-in form': [
    ['/portal/#/reports/7?a=b', 'login', { fromHash: '/reports/7?a=b', shown: '/portal/#/login' }],
    ['/portal/forgotten?lang=de#/a', 'login', { fromHash: '/a', shown: '/portal/forgotten?lang=de#/login' }],
    ['/portal/#/new', 'login', { fromHash: '/new', shown: '/portal/#/login', before: { loginHashFragment: '/old' } }],
    ['/portal/#%E0%A4%A', 'login', { fromHash: '%E0%A4%A', shown: '/portal/#/login' }],
  ],
  'OI-14 the answer of a provider in the hash of a failure page is neither kept nor shown': [
    ['/portal/loginfail/oidc#code=abc&state=def', 'loginFail oidc', { shown: '/portal/loginfail/oidc' }],
    ['/portal/loginfail/oidc#error=access_denied', 'loginFail oidc', { shown: '/portal/loginfail/oidc' }],
    [
      '/portal/loginfail/oidc#/reports?code=7',
      'login',
      { fromHash: '/reports?code=7', shown: '/portal/loginfail/oidc#/login' },
    ],
    ['/portal/#code=abc', 'login', { fromHash: 'code=abc', shown: '/portal/#/login' }],
  ],
  'an acceptable redirectURL with webbundle in it is saved': [
    ['/portal/login?redirectURL=%2Fwebbundle%2Fold%3Fa%3Db', 'login', { bundle: '/webbundle/old?a=b' }],
    [
      '/portal/?redirectURL=/webbundle/x#/reports',
      'login',
      { fromHash: '/reports', bundle: '/webbundle/x', shown: '/portal/?redirectURL=/webbundle/x#/login' },
    ],
    ['/portal/login?redirectURL=/other', 'login'],
    ['/portal/login?redirectURL=https://evil.example/webbundle', 'login'],
    ['/portal/login?redirectURL=https://portal.example/webbundle/a', 'login', { bundle: '/webbundle/a' }],
  ],
  'the redirectURL of the second factor is decoded and saved': [
    ['/portal/twoFactor?redirectURL=%2Fportal%23%2Freports%2F7', 'twoFactor', { fromAddress: '/portal#/reports/7' }],
    [
      '/portal/#/twoFactorRegistration?redirectURL=%2Fa+b&codeSentViaEmail=true',
      'twoFactorRegistration',
      { search: '?redirectURL=%2Fa+b&codeSentViaEmail=true', fromAddress: '/a b' },
    ],
    [
      '/portal/twoFactor?redirectURL=%E0%A4%A',
      'twoFactor',
      {
        saved: { loginHashFragment: '/kept' },
        before: { loginHashFragment: '/kept' },
        warning: 'Could not parse redirectURL',
      },
    ],
    ['/portal/twoFactor', 'twoFactor'],
    ['/portal/login?redirectURL=%2Fa', 'login'],
  ],
  'the reset secret is saved and leaves the address': [
    [
      '/portal/forgottenChange?hash=abc&lang=de',
      'forgottenChange',
      { link: 'abc', shown: '/portal/forgottenChange?lang=de' },
    ],
    [
      '/portal/#/forgottenChange?hash=abc',
      'forgottenChange',
      { search: '?hash=abc', link: 'abc', shown: '/portal/#/forgottenChange' },
    ],
    ['/portal/forgottenChange?%68ash=abc', 'forgottenChange', { link: 'abc', shown: '/portal/forgottenChange' }],
    ['/portal/forgottenChange?reason=1', 'forgottenChange', { link: 'abc', before: kept }],
    ['/portal/?hash=T#/forgottenChange', 'forgottenChange', { link: 'T', shown: '/portal/#/forgottenChange' }],
    [
      '/portal/forgottenChange?hash=other#/forgottenChange?hash=own',
      'forgottenChange',
      { search: '?hash=own', link: 'own', shown: '/portal/forgottenChange#/forgottenChange' },
    ],
    [
      '/portal/forgottenChange?hash=T#tracking',
      'login',
      { fromHash: 'tracking', link: 'T', shown: '/portal/forgottenChange#/login' },
    ],
    ['/portal/login?hash=abc', 'login'],
  ],
  'the reset secret is kept while its link may still serve, and no longer': [
    ['/portal/forgottenChangedInfo', 'forgottenChangedInfo', { before: kept }],
    ['/portal/forgottenChangeFailedInfo?3', 'forgottenChangeFailedInfo', { before: kept }],
    ['/portal/#/forgottenChangeFailedInfo?2', 'forgottenChangeFailedInfo', { search: '?reason=2', before: kept }],
    ['/portal/forgottenChangeFailedInfo?reason=4', 'forgottenChangeFailedInfo', { link: 'abc', before: kept }],
    ['/portal/forgottenChangeFailedInfo?99', 'forgottenChangeFailedInfo', { link: 'abc', before: kept }],
    ['/portal/forgotten?reason=3', 'forgotten', { link: 'abc', before: kept }],
  ],
  'a notice is said once': [
    ['/portal/login?notice=signInExpired&lang=de', 'login', { shown: '/portal/login?lang=de' }],
    ['/portal/twoFactor?recovery=true&notice=codeWrong', 'twoFactor', { shown: '/portal/twoFactor?recovery=true' }],
  ],
};

it.each(Object.entries(rows))('%s', (_rule, cases) =>
  eachRow(cases, ([url, screen, more = {}]) => {
    const { search = addressOf(url).search, fromHash, fromAddress, shown = url, before = {}, warning = null } = more;
    const from = fromHash === undefined ? ('redirectURL' as const) : null;
    const fragment = fromHash ?? fromAddress;
    const saved = {
      ...nothingSaved,
      ...(fragment !== undefined && { loginHashFragment: fragment, loginHashFragmentFrom: from }),
      ...(more.link && { passwordHashParameter: more.link }),
      ...(more.bundle && { redirectOldWebbundleUrl: more.bundle }),
      ...more.saved,
    };
    expect(arriveAt(url, before)).toEqual({ screen, search, saved, shown, warning });
  }),
);

it('nothing in an address makes it throw', () => {
  for (const search of ['', '?%=%&&==', '?redirectURL=webbundle%00'])
    for (const hash of ['', '#?%', '#/twoFactor?redirectURL=%'])
      expect(() => arrive({ pathname: '/portal/%', search, hash }, nothingSaved, rules)).not.toThrow();
});

it('a hub page requested while a code is pending leads to the second factor and keeps the fragment, also over a reload', () => {
  const asked = `/portal/twoFactor?redirectURL=${encodeURIComponent('/portal/portal.html?x=1')}`;
  const at = (url: string, saved = nothingSaved) => arrive(addressOf(url), saved, rules, true);
  const fragmentAt = (...asked: Parameters<typeof at>) => at(...asked).saved.loginHashFragment;
  const { place, saved, shown } = at(`${asked}#/reports/7`);
  expect([place.screen.name, shown.hash, saved.loginHashFragmentFrom]).toEqual(['twoFactor', '', 'redirectURL']);
  expect(saved.loginHashFragment).toBe('/portal/portal.html?x=1#/reports/7');
  // Until another page or fragment is requested.
  expect(fragmentAt(asked, saved)).toBe('/portal/portal.html?x=1#/reports/7');
  expect(fragmentAt(`${asked}#/q`, saved)).toBe('/portal/portal.html?x=1#/q');
  expect(fragmentAt('/portal/twoFactor?redirectURL=%2Fportal%2Fportal.html', saved)).toBe('/portal/portal.html');
  // Where no address was requested, or an unreadable one.
  expect(fragmentAt('/portal/twoFactorRegistration#/reports/7')).toBe('/reports/7');
  expect(fragmentAt('/portal/twoFactor?redirectURL=%ff#/reports/7')).toBe('/reports/7');
  expect(at('/portal/twoFactor#/forgotten').place.screen.name).toBe('forgotten');
  expect(arrive(addressOf(`${asked}#/reports/7`), nothingSaved, rules).place.screen.name).toBe('login');
});
