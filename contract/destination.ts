import { calls } from './calls.ts';
import { parseUrl } from './parse-url.ts';
import { hubStartPath, queryNames, screenPaths } from './screens.ts';

/** What makes a destination acceptable: our own origin, the base path, and the foreign origins the operator lists. */
export type DestinationRules = {
  origin: string;
  basePath: string;
  allowedOrigins: readonly string[];
};

/** The length, as our addresses carry it, of the longest one: proxies take request lines of 8 KB. */
export const longestDestination = 8000;

/**
 * Where a visitor may be sent after sign-in: an address on this origin (absolute, by path, or relative
 * to the sign-in form) or an https address whose origin is listed. Returns the address as the URL parser serializes it,
 * ours as a path, so that the checked value is the one used; null if refused.
 */
export function acceptableDestination(value: string, rules: DestinationRules): string | null {
  if (value.length > longestDestination || /\p{Surrogate}/u.test(value)) return null;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused here
  if (/[\\\u0000-\u001f\u007f-\u009f]/.test(value)) return null;
  if (!withOrigin.test(value) && !relative.test(value)) return null;
  const address = serialized(value, rules);
  return address && String(new URLSearchParams([['', address]])).length <= longestDestination ? address : null;
}

/** The rest has a scheme, in any form that parsers accept, or another host. */
const withOrigin = /^https?:\/\/[^/]/i;
const relative = /^(?! |\/\/|[a-z][a-z0-9+.-]*:)./i;

/** Resolved as a browser would on the sign-in form, or in a `Location` that answers the form. */
function serialized(value: string, { origin, basePath, allowedOrigins }: DestinationRules): string | null {
  const url = parseUrl(value, origin + basePath + screenPaths.login);
  if (!url || url.username || url.password) return null;
  // What is listed are https origins (server/config/config-file.ts), so that the comparison covers the scheme.
  if (url.origin !== origin) return allowedOrigins.includes(url.origin) ? url.href : null;
  const { pathname } = url;
  // Stripped of its origin, `/a/..//evil` would lead to another host.
  if (pathname.startsWith('//') || isCall(pathname, basePath)) return null;
  // A look-alike of the portal path is a mistake or a lure: the prefix needs a boundary.
  if (pathname.startsWith(basePath) && !/^(?:\/|$)/.test(pathname.slice(basePath.length))) return null;
  return pathname + url.search + url.hash;
}

/** Landing on a call, such as sign-out, would undo the sign-in. Decoded as the router does; not UTF-8 is no call. */
function isCall(path: string, basePath: string): boolean {
  let read: string;
  try {
    read = decodeURIComponent(path);
  } catch {
    return false;
  }
  const plain = read.replace(/\/$/, '');
  const addresses = Object.values(calls).map((call) => basePath + call.path);
  return addresses.includes(plain) || plain.startsWith(`${basePath}${calls.oidcCallback.path}/`);
}

/** Where a visitor goes when the requested destination is missing or refused. */
export function defaultDestination(basePath: string): string {
  return basePath + hubStartPath;
}

/** Whether this is where a visitor lands by default, so that no address needs to carry it. */
export function isDefaultDestination(destination: string, basePath: string): boolean {
  return [basePath, `${basePath}/`, defaultDestination(basePath)].includes(destination);
}

/**
 * The values that a browser tab keeps during sign-in, specification §3; null where nothing is saved.
 * `loginHashFragmentFrom` says how to read the fragment: a value from `redirectURL` is an address, all else is what it says.
 */
export type SavedDestination = {
  loginHashFragment: string | null;
  loginHashFragmentFrom: 'redirectURL' | null;
  redirectOldWebbundleUrl: string | null;
};

/** Sent with sign-in: the saved old web-bundle address, else the saved one, else what was asked for, or the portal. */
export function redirectValue(saved: SavedDestination, askedFor: string | null, rules: DestinationRules): string {
  const { redirectOldWebbundleUrl: webbundle, loginHashFragment, loginHashFragmentFrom } = saved;
  const address = accepted(webbundle, rules) ?? savedAddress(saved, rules);
  if (address) return address;
  const start = accepted(askedFor, rules) ?? rules.basePath;
  const isFragment = loginHashFragment && loginHashFragmentFrom === null && !start.includes('#');
  return isFragment ? `${start}#${loginHashFragment}` : start;
}

/** Where the browser goes after a correct second factor: the saved value, or the default (specification §4). */
export function destinationAfterTwoFactor(saved: SavedDestination, rules: DestinationRules): string {
  if (!saved.loginHashFragment || saved.loginHashFragmentFrom)
    return savedAddress(saved, rules) ?? defaultDestination(rules.basePath);
  return `${rules.basePath}#${saved.loginHashFragment}`;
}

function savedAddress(saved: SavedDestination, rules: DestinationRules): string | null {
  return saved.loginHashFragmentFrom && accepted(saved.loginHashFragment, rules);
}

const accepted = (value: string | null, rules: DestinationRules) =>
  value ? acceptableDestination(value, rules) : null;

/** In the language that the visitor chose, if it is the default: any other may be the hub's, and nothing is added. */
export function destinationInLanguage(destination: string, basePath: string, language: string | undefined): string {
  const [start = '', ...fragment] = destination.split('#');
  if (!language || !isDefaultDestination(start, basePath)) return destination;
  return [`${basePath}/?${queryNames.language}=${language}`, ...fragment].join('#');
}

/** What our addresses carry of a requested destination: nothing if it is refused or the default. */
export function destinationToCarry(asked: string | null, rules: DestinationRules): string | undefined {
  const destination = accepted(asked, rules);
  return !destination || isDefaultDestination(destination, rules.basePath) ? undefined : destination;
}
