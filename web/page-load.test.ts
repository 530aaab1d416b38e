import { describe, expect, it } from 'vitest';
import type { DestinationRules } from '#contract/destination.ts';
import { eachRow } from '#test/support/runs-all.ts';
import type { Address } from './addresses.ts';
import { arrive } from './page-load.ts';
import { nothingSaved, type SavedValues } from './saved-values.ts';

const rules: DestinationRules = { origin: 'https://portal.example', basePath: '/portal', allowedOrigins: [] };
const link = 'T'.repeat(43);

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

type Row = {
  url: string;
  screen: string;
  search?: string;
  saved?: Partial<SavedValues>;
  shown?: string;
  before?: Partial<SavedValues>;
  warning?: string;
};

const rows: Record<string, Row[]> = {
  'no hash: the path’s own screen': [
    { url: '/portal/', screen: 'login' },
    { url: '/portal', screen: 'login' },
    { url: '/portal/#', screen: 'login', shown: '/portal/' },
    { url: '/portal/forgotten?lang=de', screen: 'forgotten', search: '?lang=de' },
    { url: '/portal/nowhere', screen: 'notFound' },
    { url: '/portal/loginfail/ip?ipaddress=1.2.3.4', screen: 'loginFail ip', search: '?ipaddress=1.2.3.4' },
    { url: '/portal/loginfailOIDC', screen: 'loginFail oidc' },
  ],
  'a public hash is left alone, and shows the screen that it names': [
    { url: '/portal/#/forgottenChangedInfo', screen: 'forgottenChangedInfo' },
    { url: '/portal/#/forgottenChangeFailedInfo?3', screen: 'forgottenChangeFailedInfo', search: '?3' },
    { url: '/portal/#/forgottenChangeFailedInfo?reason=3', screen: 'forgottenChangeFailedInfo', search: '?reason=3' },
    { url: '/portal/#/emailInfo', screen: 'emailInfo' },
    { url: '/portal/#/forgotten', screen: 'forgotten' },
    { url: '/portal/#/login', screen: 'login' },
    { url: '/portal/#/login?login=anna', screen: 'login', search: '?login=anna' },
    { url: '/portal/#/loginFail', screen: 'loginFail default' },
    { url: '/portal/#/loginfailOIDC', screen: 'loginFail oidc' },
    { url: '/portal/#/loginfailSAML', screen: 'loginFail saml' },
    { url: '/portal/#/loginfailIP?ipaddress=1.2.3.4', screen: 'loginFail ip', search: '?ipaddress=1.2.3.4' },
    { url: '/portal/#/loginfail/ip?ipaddress=::1', screen: 'loginFail ip', search: '?ipaddress=::1' },
    { url: '/portal/#/forgottenChange', screen: 'forgottenChange' },
    { url: '/portal/#/twoFactor', screen: 'twoFactor' },
    { url: '/portal/#/twoFactorRegistration', screen: 'twoFactorRegistration' },
    { url: '/portal/#/singleSignOn', screen: 'singleSignOn' },
    { url: '/portal/emailInfo#/login', screen: 'login' },
  ],
  'a hash’s own query is its parameters, and then the query of the path': [
    {
      url: '/portal/?lang=de&reason=1#/forgottenChange',
      screen: 'forgottenChange',
      search: '?lang=de&reason=1',
    },
    { url: '/portal/?reason=3#/forgottenChangeFailedInfo', screen: 'forgottenChangeFailedInfo', search: '?reason=3' },
    { url: '/portal/?3#/forgottenChangeFailedInfo', screen: 'forgottenChangeFailedInfo', search: '?3' },
    { url: '/portal/?3#/forgottenChangeFailedInfo?lang=de', screen: 'forgottenChangeFailedInfo', search: '?3&lang=de' },
    { url: '/portal/?5#/forgottenChangeFailedInfo?3', screen: 'forgottenChangeFailedInfo', search: '?3' },
    { url: '/portal/?5#/forgottenChangeFailedInfo?reason=3', screen: 'forgottenChangeFailedInfo', search: '?reason=3' },
    { url: '/portal/?reason=5#/forgottenChangeFailedInfo?3', screen: 'forgottenChangeFailedInfo', search: '?3' },
    {
      url: '/portal/?codeSentViaEmail=true#/twoFactorRegistration',
      screen: 'twoFactorRegistration',
      search: '?codeSentViaEmail=true',
    },
    {
      url: '/portal/?codeSentViaEmail=true#/twoFactor?codeSentViaEmail=false',
      screen: 'twoFactor',
      search: '?codeSentViaEmail=false',
    },
    { url: '/portal/?ipaddress=192.0.2.1#/loginfailIP', screen: 'loginFail ip', search: '?ipaddress=192.0.2.1' },
    { url: '/portal/?lang=de#/login?lang=pl', screen: 'login', search: '?lang=pl' },
    { url: '/portal/?login=a&destination=%2Fx#/login', screen: 'login', search: '?login=a&destination=%2Fx' },
    { url: '/portal/?lang=de#/forgottenChangeFailedInfo?3', screen: 'forgottenChangeFailedInfo', search: '?3&lang=de' },
  ],
  'a public hash that names no screen shows the path’s own': [
    { url: '/portal/#/forgottenX', screen: 'login' },
    { url: '/portal/emailInfo#/loginX', screen: 'emailInfo' },
    { url: '/portal/emailInfo#/login/x', screen: 'emailInfo' },
    { url: '/portal/emailInfo#/loginfail', screen: 'emailInfo' },
    { url: '/portal/nowhere#/twoFactorX', screen: 'notFound' },
  ],
  'any other hash is saved, and leads to the sign-in form': [
    {
      url: '/portal/#/reports/7?a=b',
      screen: 'login',
      saved: { loginHashFragment: '/reports/7?a=b', loginHashFragmentFrom: 'hash' },
      shown: '/portal/#/login',
    },
    {
      url: '/portal/#x',
      screen: 'login',
      saved: { loginHashFragment: 'x', loginHashFragmentFrom: 'hash' },
      shown: '/portal/#/login',
    },
    {
      url: '/portal/#/',
      screen: 'login',
      saved: { loginHashFragment: '/', loginHashFragmentFrom: 'hash' },
      shown: '/portal/#/login',
    },
    {
      url: '/portal/#/Login',
      screen: 'login',
      saved: { loginHashFragment: '/Login', loginHashFragmentFrom: 'hash' },
      shown: '/portal/#/login',
    },
    {
      url: '/portal/forgotten?lang=de#/a',
      screen: 'login',
      search: '?lang=de',
      saved: { loginHashFragment: '/a', loginHashFragmentFrom: 'hash' },
      shown: '/portal/forgotten?lang=de#/login',
    },
    {
      url: '/portal/#/new',
      before: { loginHashFragment: '/old' },
      screen: 'login',
      saved: { loginHashFragment: '/new', loginHashFragmentFrom: 'hash' },
      shown: '/portal/#/login',
    },
    {
      url: '/portal/#%E0%A4%A',
      screen: 'login',
      saved: { loginHashFragment: '%E0%A4%A', loginHashFragmentFrom: 'hash' },
      shown: '/portal/#/login',
    },
  ],
  'OI-14 the answer of a provider in the hash of a failure page is neither kept nor shown': [
    { url: '/portal/loginfail/oidc#code=abc&state=def', screen: 'loginFail oidc', shown: '/portal/loginfail/oidc' },
    { url: '/portal/loginfail/oidc#iss=x&state=def', screen: 'loginFail oidc', shown: '/portal/loginfail/oidc' },
    {
      url: '/portal/loginfail/oidc?lang=de#id_token=a',
      screen: 'loginFail oidc',
      search: '?lang=de',
      shown: '/portal/loginfail/oidc?lang=de',
    },
    { url: '/portal/loginfail/oidc#error=access_denied', screen: 'loginFail oidc', shown: '/portal/loginfail/oidc' },
    {
      url: '/portal/loginfail/oidc#/reports?code=7',
      screen: 'login',
      saved: { loginHashFragment: '/reports?code=7', loginHashFragmentFrom: 'hash' },
      shown: '/portal/loginfail/oidc#/login',
    },
    {
      url: '/portal/#code=abc',
      screen: 'login',
      saved: { loginHashFragment: 'code=abc', loginHashFragmentFrom: 'hash' },
      shown: '/portal/#/login',
    },
  ],
  'an acceptable redirectURL with webbundle in it is saved': [
    {
      url: '/portal/login?redirectURL=%2Fwebbundle%2Fold%3Fa%3Db',
      screen: 'login',
      search: '?redirectURL=%2Fwebbundle%2Fold%3Fa%3Db',
      saved: { redirectOldWebbundleUrl: '/webbundle/old?a=b' },
    },
    {
      url: '/portal/#/login?redirectURL=/webbundle/x',
      screen: 'login',
      search: '?redirectURL=/webbundle/x',
      saved: { redirectOldWebbundleUrl: '/webbundle/x' },
    },
    {
      url: '/portal/?redirectURL=/webbundle/x#/reports',
      screen: 'login',
      search: '?redirectURL=/webbundle/x',
      saved: { redirectOldWebbundleUrl: '/webbundle/x', loginHashFragment: '/reports', loginHashFragmentFrom: 'hash' },
      shown: '/portal/?redirectURL=/webbundle/x#/login',
    },
    { url: '/portal/login?redirectURL=/other', screen: 'login', search: '?redirectURL=/other' },
    {
      url: '/portal/login?redirectURL=https://evil.example/webbundle',
      screen: 'login',
      search: '?redirectURL=https://evil.example/webbundle',
    },
    {
      url: '/portal/login?redirectURL=%ff%webbundle',
      screen: 'login',
      search: '?redirectURL=%ff%webbundle',
    },
    {
      url: '/portal/login?redirectURL=https://portal.example/webbundle/a',
      screen: 'login',
      search: '?redirectURL=https://portal.example/webbundle/a',
      saved: { redirectOldWebbundleUrl: '/webbundle/a' },
    },
    {
      url: '/portal/login?redirectURL=a:webbundle',
      screen: 'login',
      search: '?redirectURL=a:webbundle',
    },
  ],
  'the redirectURL of the second factor is decoded and saved': [
    {
      url: '/portal/twoFactor?redirectURL=%2Fportal%23%2Freports%2F7',
      screen: 'twoFactor',
      search: '?redirectURL=%2Fportal%23%2Freports%2F7',
      saved: { loginHashFragment: '/portal#/reports/7', loginHashFragmentFrom: 'redirectURL' },
    },
    {
      url: '/portal/#/twoFactorRegistration?redirectURL=%2Fa+b&codeSentViaEmail=true',
      screen: 'twoFactorRegistration',
      search: '?redirectURL=%2Fa+b&codeSentViaEmail=true',
      saved: { loginHashFragment: '/a b', loginHashFragmentFrom: 'redirectURL' },
    },
    {
      url: '/portal/?redirectURL=%2Fa#/twoFactor',
      screen: 'twoFactor',
      search: '?redirectURL=%2Fa',
      saved: { loginHashFragment: '/a', loginHashFragmentFrom: 'redirectURL' },
    },
    {
      url: '/portal/twoFactor?redirectURL=%E0%A4%A',
      before: { loginHashFragment: '/kept' },
      screen: 'twoFactor',
      search: '?redirectURL=%E0%A4%A',
      saved: { loginHashFragment: '/kept' },
      warning: 'Could not parse redirectURL',
    },
    {
      url: '/portal/twoFactor?redirectURL=',
      before: { loginHashFragment: '/kept' },
      screen: 'twoFactor',
      search: '?redirectURL=',
      saved: { loginHashFragment: '/kept' },
    },
    { url: '/portal/twoFactor', screen: 'twoFactor' },
    { url: '/portal/login?redirectURL=%2Fa', screen: 'login', search: '?redirectURL=%2Fa' },
  ],
  'the reset secret is saved and leaves the address': [
    {
      url: '/portal/forgottenChange?hash=abc&lang=de',
      screen: 'forgottenChange',
      search: '?hash=abc&lang=de',
      saved: { passwordHashParameter: 'abc' },
      shown: '/portal/forgottenChange?lang=de',
    },
    {
      url: '/portal/#/forgottenChange?hash=abc',
      screen: 'forgottenChange',
      search: '?hash=abc',
      saved: { passwordHashParameter: 'abc' },
      shown: '/portal/#/forgottenChange',
    },
    {
      url: '/portal/forgottenChange?%68ash=abc',
      screen: 'forgottenChange',
      search: '?%68ash=abc',
      saved: { passwordHashParameter: 'abc' },
      shown: '/portal/forgottenChange',
    },
    {
      url: '/portal/forgottenChange?reason=1',
      before: { passwordHashParameter: 'abc' },
      screen: 'forgottenChange',
      search: '?reason=1',
      saved: { passwordHashParameter: 'abc' },
    },
    ...['/portal/', '/portal/login', '/portal/forgottenChange'].map((path) => ({
      url: `${path}?hash=T#/forgottenChange`,
      screen: 'forgottenChange',
      search: '?hash=T',
      saved: { passwordHashParameter: 'T' },
      shown: `${path}#/forgottenChange`,
    })),
    {
      url: '/portal/forgottenChange?hash=other#/forgottenChange?hash=own',
      screen: 'forgottenChange',
      search: '?hash=own',
      saved: { passwordHashParameter: 'own' },
      shown: '/portal/forgottenChange#/forgottenChange',
    },
    // Decoded by a mail program: the fragment is of the page that whoever asked for the link chose to follow.
    {
      url: `/portal/forgottenChange?hash=${link}&destination=/portal/portal.html#/forgottenChange?hash=${'M'.repeat(43)}&lang=en`,
      screen: 'forgottenChange',
      search: `?hash=${link}&destination=/portal/portal.html&lang=en`,
      saved: { passwordHashParameter: link },
      shown: '/portal/forgottenChange?destination=/portal/portal.html#/forgottenChange?lang=en',
    },
    {
      url: '/portal/forgottenChange?hash=T#tracking',
      screen: 'login',
      search: '?hash=T',
      saved: { passwordHashParameter: 'T', loginHashFragment: 'tracking', loginHashFragmentFrom: 'hash' },
      shown: '/portal/forgottenChange#/login',
    },
    {
      url: '/portal/forgottenChange?hash=T#/forgotten',
      screen: 'forgotten',
      search: '?hash=T',
      saved: { passwordHashParameter: 'T' },
      shown: '/portal/forgottenChange#/forgotten',
    },
    { url: '/portal/login?hash=abc', screen: 'login', search: '?hash=abc' },
    { url: '/portal/?hash=abc#/login', screen: 'login', search: '?hash=abc' },
  ],
  'the reset secret is kept while its link may still serve, and no longer': [
    { url: '/portal/forgottenChangedInfo', before: { passwordHashParameter: 'abc' }, screen: 'forgottenChangedInfo' },
    { url: '/portal/#/forgottenChangedInfo', before: { passwordHashParameter: 'abc' }, screen: 'forgottenChangedInfo' },
    ...['?reason=2', '?reason=3', '?3', '?lang=de&reason=3'].map((search) => ({
      url: `/portal/forgottenChangeFailedInfo${search}`,
      before: { passwordHashParameter: 'abc', loginHashFragment: '/kept' },
      screen: 'forgottenChangeFailedInfo',
      search,
      saved: { loginHashFragment: '/kept' },
    })),
    {
      url: '/portal/#/forgottenChangeFailedInfo?2',
      before: { passwordHashParameter: 'abc' },
      screen: 'forgottenChangeFailedInfo',
      search: '?2',
    },
    ...['', '?reason=1', '?reason=4', '?5', '?6', '?7', '?8', '?9', '?10', '?11', '?99'].map((search) => ({
      url: `/portal/forgottenChangeFailedInfo${search}`,
      before: { passwordHashParameter: 'abc' },
      screen: 'forgottenChangeFailedInfo',
      search,
      saved: { passwordHashParameter: 'abc' },
    })),
    {
      url: '/portal/forgotten?reason=3',
      before: { passwordHashParameter: 'abc' },
      screen: 'forgotten',
      search: '?reason=3',
      saved: { passwordHashParameter: 'abc' },
    },
  ],
  'a notice is said once': [
    {
      url: '/portal/login?notice=signInExpired&lang=de',
      screen: 'login',
      search: '?notice=signInExpired&lang=de',
      shown: '/portal/login?lang=de',
    },
    {
      url: '/portal/twoFactor?recovery=true&notice=codeWrong',
      screen: 'twoFactor',
      search: '?recovery=true&notice=codeWrong',
      shown: '/portal/twoFactor?recovery=true',
    },
    {
      url: '/portal/login?notice=codeWrong#/twoFactor',
      screen: 'twoFactor',
      search: '?notice=codeWrong',
      shown: '/portal/login#/twoFactor',
    },
  ],
};

describe.each(Object.entries(rows))('%s', (_rule, cases) => {
  it('decides screen, saved values and address', () =>
    eachRow(cases, ({ url, screen, search = '', saved = {}, shown = url, before = {}, warning = null }) => {
      expect(arriveAt(url, before)).toEqual({ screen, search, saved: { ...nothingSaved, ...saved }, shown, warning });
    }));
});

it('a public hash names a screen and is left alone, whatever follows it', () =>
  eachRow(
    [
      '#/forgottenChangedInfo',
      '#/forgottenChangeFailedInfo',
      '#/emailInfo',
      '#/forgotten',
      '#/login',
      '#/loginFail',
      '#/loginfailOIDC',
      '#/loginfailSAML',
      '#/forgottenChange',
      '#/twoFactor',
      '#/twoFactorRegistration',
      '#/singleSignOn',
    ],
    (hash) => {
      expect(arriveAt(`/portal/nowhere${hash}`).screen).not.toBe('notFound');
      expect(arriveAt(`/portal/login${hash}xyz`)).toMatchObject({
        saved: nothingSaved,
        shown: `/portal/login${hash}xyz`,
      });
    },
  ));

it('nothing in an address makes it throw', () => {
  for (const url of [
    '//x',
    '/portal/%',
    '/portal/?%=%&&==',
    '/portal/#?%',
    '/portal/#/twoFactor?redirectURL=%',
    '/portal/?redirectURL=webbundle%00',
  ]) {
    const [pathname = '', rest = ''] = url.split(/(?=[?#])/);
    const address = { pathname, search: rest.startsWith('?') ? rest : '', hash: rest.startsWith('#') ? rest : '' };
    expect(() => arrive(address, nothingSaved, rules)).not.toThrow();
  }
});

describe('a hub page requested while a code is pending', () => {
  const asked = encodeURIComponent('/portal/portal.html?x=1');
  const at = (url: string) => arrive(addressOf(url), nothingSaved, rules, true);

  it('leads to the second-factor screen and keeps the fragment', () => {
    const arrival = at(`/portal/twoFactor?redirectURL=${asked}#/reports/7`);
    expect(arrival.place.screen.name).toBe('twoFactor');
    expect(arrival.saved.loginHashFragment).toBe('/portal/portal.html?x=1#/reports/7');
    expect(arrival.saved.loginHashFragmentFrom).toBe('redirectURL');
    expect(arrival.shown.hash).toBe('');
  });

  it('keeps the fragment over a reload, until another page or fragment is requested', () => {
    const { saved } = at(`/portal/twoFactor?redirectURL=${asked}#/reports/7`);
    const then = (url: string) => arrive(addressOf(url), saved, rules, true).saved.loginHashFragment;
    expect(then(`/portal/twoFactor?redirectURL=${asked}`)).toBe('/portal/portal.html?x=1#/reports/7');
    expect(then(`/portal/twoFactor?redirectURL=${asked}#/q`)).toBe('/portal/portal.html?x=1#/q');
    expect(then('/portal/twoFactor?redirectURL=%2Fportal%2Fportal.html')).toBe('/portal/portal.html');
    const fromHash = { ...nothingSaved, loginHashFragment: '/x', loginHashFragmentFrom: 'hash' } as const;
    const address = arrive(addressOf('/portal/twoFactor?redirectURL=%2Fx'), fromHash, rules, true);
    expect(address.saved.loginHashFragmentFrom).toBe('redirectURL');
  });

  it('keeps only the fragment if no address was requested or it is unreadable', () => {
    expect(at('/portal/twoFactorRegistration#/reports/7').saved.loginHashFragment).toBe('/reports/7');
    expect(at('/portal/twoFactor?redirectURL=%ff#/reports/7').saved.loginHashFragment).toBe('/reports/7');
    expect(at('/portal/twoFactor?redirectURL=%ff#/reports/7').saved.loginHashFragmentFrom).toBe('hash');
    expect(at('/portal/twoFactor#/portal/x').saved).toMatchObject({
      loginHashFragment: '/portal/x',
      loginHashFragmentFrom: 'hash',
    });
  });

  it('changes nothing if the hash names a screen or no code is pending', () => {
    expect(at('/portal/twoFactor#/forgotten').place.screen.name).toBe('forgotten');
    const withoutCode = arrive(addressOf(`/portal/twoFactor?redirectURL=${asked}#/reports/7`), nothingSaved, rules);
    expect(withoutCode.place.screen.name).toBe('login');
  });
});
