import { type Call, calls, isPathOfCall } from './calls.ts';
import { hubStartPath } from './screens.ts';

/** What decides whether a destination is acceptable: our own origin, the base path, and foreign origins the operator lists. */
export type DestinationRules = {
  origin: string;
  basePath: string;
  allowedOrigins: readonly string[];
};

/** Longer values are refused, in UTF-16 code units. */
export const longestDestination = 2048;

/**
 * Where a visitor may be sent after sign-in (decisions §4): a path on this origin, or an https address whose origin
 * is listed. Returns the address as the URL parser writes it, so that what was checked is what is used; null when refused.
 */
export function acceptableDestination(value: string, rules: DestinationRules): string | null {
  if (value.length > longestDestination || !value.isWellFormed()) return null;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused here
  if (/[\\\u0000-\u001f\u007f]/.test(value)) return null;
  if (/^\/(?!\/)/.test(value)) return ownPath(value, rules);
  if (value.startsWith('https://')) return listedAddress(value, rules);
  return null;
}

function ownPath(value: string, { origin, basePath }: DestinationRules): string | null {
  const url = URL.parse(value, origin);
  if (!url || url.origin !== origin || url.pathname.startsWith('//')) return null;
  // A look-alike of the portal path is a mistake or a lure: the prefix needs a boundary.
  if (url.pathname.startsWith(basePath) && !/^(?:\/|$)/.test(url.pathname.slice(basePath.length))) return null;
  if (isCall(url.pathname, basePath)) return null;
  return url.pathname + url.search + url.hash;
}

/** A call is no page to arrive at: sign-out as the destination of a sign-in would undo it. Paths as the router reads them. */
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

function listedAddress(value: string, { allowedOrigins }: DestinationRules): string | null {
  const url = URL.parse(value);
  if (!url || url.username || url.password || !allowedOrigins.includes(url.origin)) return null;
  return url.href;
}

/** Where a visitor goes when no destination was asked for, or the one asked for is refused. */
export function defaultDestination(basePath: string): string {
  return basePath + hubStartPath;
}

/** The values that a browser tab remembers on the way through sign-in, specification §3; null where nothing is saved. */
export type SavedDestination = {
  loginHashFragment: string | null;
  redirectOldWebbundleUrl: string | null;
};

/**
 * The redirect value sent with sign-in (decisions §4): the old web-bundle address if one is saved; else what the
 * address asked for, or the portal path, with the saved fragment.
 */
export function redirectValue(saved: SavedDestination, askedFor: string | null, rules: DestinationRules): string {
  const webbundle = saved.redirectOldWebbundleUrl && acceptableDestination(saved.redirectOldWebbundleUrl, rules);
  if (webbundle) return webbundle;
  const start = (askedFor && acceptableDestination(askedFor, rules)) || rules.basePath;
  if (!saved.loginHashFragment) return start;
  if (isAddress(saved.loginHashFragment, rules)) return saved.loginHashFragment;
  return start.includes('#') ? start : `${start}#${saved.loginHashFragment}`;
}

/** Where the browser goes once the second factor is right: the saved value, or the default (specification §4). */
export function destinationAfterTwoFactor(saved: SavedDestination, rules: DestinationRules): string {
  if (!saved.loginHashFragment) return defaultDestination(rules.basePath);
  return redirectValue({ ...saved, redirectOldWebbundleUrl: null }, null, rules);
}

/** A saved value from two-factor is a whole address, one from a deep link is a fragment: `/reports/7` is the latter. */
function isAddress(saved: string, rules: DestinationRules): boolean {
  const accepted = acceptableDestination(saved, rules);
  if (!accepted) return false;
  return (
    accepted.startsWith('https://') ||
    (/^(?:[/?#]|$)/.test(accepted.slice(rules.basePath.length)) && accepted.startsWith(rules.basePath))
  );
}
