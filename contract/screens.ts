import { type LoginFailType, loginFailTypeOf } from './reasons.ts';

/** The screens of specification §2 by name, with their paths below the base path. */
export const screenPaths = {
  login: '/login',
  forgotten: '/forgotten',
  emailInfo: '/emailInfo',
  forgottenChange: '/forgottenChange',
  forgottenChangedInfo: '/forgottenChangedInfo',
  forgottenChangeFailedInfo: '/forgottenChangeFailedInfo',
  twoFactor: '/twoFactor',
  twoFactorRegistration: '/twoFactorRegistration',
  singleSignOn: '/singleSignOn',
} as const;

export type PlainScreen = keyof typeof screenPaths;

/** The screen that an address names; `loginFail` carries its type. */
export type Screen = { name: PlainScreen } | { name: 'loginFail'; type: LoginFailType } | { name: 'notFound' };

const loginFailPath = '/loginfail';

/** Old addresses and what they redirect to, specification §2. */
export const legacyPaths: Record<string, string> = {
  '/loginFail': `${loginFailPath}/default`,
  '/loginfailOIDC': `${loginFailPath}/oidc`,
  '/loginfailSAML': `${loginFailPath}/saml`,
  '/loginfailIP': `${loginFailPath}/ip`,
};

/** Where a visitor lands after sign-in by default; relative to the base path. */
export const hubStartPath = '/portal.html';

export const queryNames = {
  login: 'login',
  language: 'lang',
  destination: 'destination',
  redirectUrl: 'redirectURL',
  codeSentViaEmail: 'codeSentViaEmail',
  hash: 'hash',
  reason: 'reason',
  ipAddress: 'ipaddress',
  notice: 'notice',
  recovery: 'recovery',
  remember: 'remember',
  forget: 'forget',
  /** The server then words the pages of a reset link for somebody invited (docs/decisions/0013). */
  invited: 'invited',
} as const;

/** A path without the one tolerated trailing slash. */
export function withoutTrailingSlash(path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
}

/** The path that a legacy path redirects to, or null. */
export function redirectOfLegacyPath(path: string): string | null {
  const plain = withoutTrailingSlash(path);
  return Object.entries(legacyPaths).find(([old]) => old === plain)?.[1] ?? null;
}

/** The screen of a path below the base path. Case matters, one trailing slash does not; no path is the sign-in form. */
export function screenOfPath(path: string): Screen {
  const current = redirectOfLegacyPath(path) ?? withoutTrailingSlash(path);
  if (current === '' || current === '/') return { name: 'login' };
  const name = (Object.keys(screenPaths) as PlainScreen[]).find((one) => screenPaths[one] === current);
  if (name) return { name };
  const [, room, type, ...rest] = current.split('/');
  if (`/${room}` === loginFailPath && type && rest.length === 0)
    return { name: 'loginFail', type: loginFailTypeOf(type) };
  return { name: 'notFound' };
}

/** The path of a screen below the base path; the not-found screen has none and uses the sign-in form's. */
export function pathOfScreen(screen: Screen): string {
  if (screen.name === 'loginFail') return `${loginFailPath}/${screen.type}`;
  if (screen.name === 'notFound') return screenPaths.login;
  return screenPaths[screen.name];
}

/** The address of a screen with its query; undefined values are omitted. */
export function screenUrl(basePath: string, screen: PlainScreen | Screen, query: Query = {}): string {
  return withQuery(basePath + pathOfScreen(typeof screen === 'string' ? { name: screen } : screen), query);
}

export type Query = Record<string, string | undefined>;

/** A path with its query; undefined values are omitted. */
export function withQuery(path: string, query: Query): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}
