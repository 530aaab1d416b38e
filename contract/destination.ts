import { type Call, calls, isPathOfCall } from './calls.ts';
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
  const accepted = serialized(value, rules);
  return accepted !== null && String(new URLSearchParams([['', accepted]])).length <= longestDestination
    ? accepted
    : null;
}

function serialized(value: string, rules: DestinationRules): string | null {
  if (/^\/(?!\/)/.test(value)) return ownPath(value, rules);
  if (/^https?:\/\/[^/]/i.test(value)) return ownAddress(value, rules) ?? listedAddress(value, rules);
  return isRelative(value) ? ownAddress(value, rules) : null;
}

/** Whether the value has neither a scheme, in any form that parsers accept, nor another host. */
function isRelative(value: string): boolean {
  return value !== '' && !/^(?: |\/|[a-z][a-z0-9+.-]*:)/i.test(value);
}

/**
 * Resolved as a browser would on the sign-in form, or in a `Location` that answers the form. Stripped of its origin, an
 * address of ours is checked again: `/a/..//evil` has become `//evil`.
 */
function ownAddress(value: string, rules: DestinationRules): string | null {
  const url = parseUrl(value, rules.origin + rules.basePath + screenPaths.login);
  if (!url || url.origin !== rules.origin || url.username || url.password) return null;
  const path = url.pathname + url.search + url.hash;
  return path.startsWith('//') ? null : ownPath(path, rules);
}

function ownPath(value: string, { origin, basePath }: DestinationRules): string | null {
  const url = parseUrl(value, origin);
  if (!url || url.origin !== origin || url.pathname.startsWith('//')) return null;
  // A look-alike of the portal path is a mistake or a lure: the prefix needs a boundary.
  if (url.pathname.startsWith(basePath) && !/^(?:\/|$)/.test(url.pathname.slice(basePath.length))) return null;
  if (isCall(url.pathname, basePath)) return null;
  return url.pathname + url.search + url.hash;
}

/** Landing on a call, such as sign-out, would undo the sign-in. Decoded as the router does; not UTF-8 is no call. */
function isCall(path: string, basePath: string): boolean {
  let read: string;
  try {
    read = decodeURIComponent(path);
  } catch {
    return false;
  }
  const below = read.startsWith(`${basePath}/`) ? read.slice(basePath.length).replace(/\/$/, '') : null;
  return below !== null && (Object.keys(calls) as Call[]).some((call) => isPathOfCall(call, below));
}

/** What is listed are https origins (server/config/config-file.ts), so that the comparison covers the scheme, in any letters. */
function listedAddress(value: string, { allowedOrigins }: DestinationRules): string | null {
  const url = parseUrl(value);
  if (!url || url.username || url.password || !allowedOrigins.includes(url.origin)) return null;
  return url.href;
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
 * `loginHashFragmentFrom` says how to read the fragment: a value from `redirectURL` is an address, a hash never is. It
 * is null if another page of the hub saved the fragment.
 */
export type SavedDestination = {
  loginHashFragment: string | null;
  loginHashFragmentFrom: 'hash' | 'redirectURL' | null;
  redirectOldWebbundleUrl: string | null;
};

/** Sent with sign-in: the saved old web-bundle address, else the saved one, else what was asked for, or the portal. */
export function redirectValue(saved: SavedDestination, askedFor: string | null, rules: DestinationRules): string {
  const webbundle = saved.redirectOldWebbundleUrl && acceptableDestination(saved.redirectOldWebbundleUrl, rules);
  if (webbundle) return webbundle;
  const start = (askedFor && acceptableDestination(askedFor, rules)) || rules.basePath;
  const address = savedAddress(saved, rules);
  if (address) return address;
  if (!saved.loginHashFragment || saved.loginHashFragmentFrom === 'redirectURL') return start;
  return start.includes('#') ? start : `${start}#${saved.loginHashFragment}`;
}

/** Where the browser goes after a correct second factor: the saved value, or the default (specification §4). */
export function destinationAfterTwoFactor(saved: SavedDestination, rules: DestinationRules): string {
  const address = savedAddress(saved, rules);
  if (address) return address;
  if (!saved.loginHashFragment || saved.loginHashFragmentFrom === 'redirectURL')
    return defaultDestination(rules.basePath);
  return `${rules.basePath}#${saved.loginHashFragment}`;
}

function savedAddress(saved: SavedDestination, rules: DestinationRules): string | null {
  const { loginHashFragment: value, loginHashFragmentFrom: from } = saved;
  if (!value || from === 'hash') return null;
  const accepted = acceptableDestination(value, rules);
  return from === 'redirectURL' || looksLikeAddress(value, rules) ? accepted : null;
}

/** For values of unknown source: `/portal#/reports/7` is an address, `/reports/7` is a fragment. */
function looksLikeAddress(value: string, { basePath }: DestinationRules): boolean {
  return (
    /^https:\/\//i.test(value) || (value.startsWith(basePath) && /^(?:[/?#]|$)/.test(value.slice(basePath.length)))
  );
}

/** In the language that the visitor chose, if it is the default: any other may be the hub's, and nothing is added. */
export function destinationInLanguage(destination: string, basePath: string, language: string | undefined): string {
  const [start = '', ...fragment] = destination.split('#');
  if (!language || !isDefaultDestination(start, basePath)) return destination;
  return [`${basePath}/?${queryNames.language}=${language}`, ...fragment].join('#');
}

/** What our addresses carry of a requested destination: nothing if it is refused or the default. */
export function destinationToCarry(asked: string | null, rules: DestinationRules): string | undefined {
  const accepted = asked === null ? null : acceptableDestination(asked, rules);
  return accepted === null || isDefaultDestination(accepted, rules.basePath) ? undefined : accepted;
}
