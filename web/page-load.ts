import { acceptableDestination, type DestinationRules } from '#contract/destination.ts';
import { noticeOfSearch } from '#contract/notices.ts';
import { hasAddress, type Page } from '#contract/page.ts';
import { changeFailedReasons, reasonOfSearch } from '#contract/reasons.ts';
import { queryNames } from '#contract/screens.ts';
import { type Address, addressWithout, type Place, parameterOf, placeOfUrl, withMissingOf } from './addresses.ts';
import type { SavedValues, SavedValuesStore } from './saved-values.ts';

/** Hashes that need no sign-in. The twelve prefixes of specification §2 all begin with one of these five. */
export const publicHash = /^#\/(?:emailInfo|forgotten|login|singleSignOn|twoFactor)/;

export type Arrival = {
  place: Place;
  saved: SavedValues;
  /** The address to show; history is replaced if it differs from the requested one. */
  shown: Address;
  /** A message for the console. */
  warning: string | null;
};

/** What a page load does before anything renders. `isCodePending`: the address is of an open second factor. */
export function arrive(address: Address, saved: SavedValues, rules: DestinationRules, isCodePending = false): Arrival {
  const place = placeOfUrl(address.pathname + address.search, rules.basePath);
  let arrival: Arrival = { place, saved, shown: address, warning: null };
  if (isCodePending && isForeign(address.hash)) return hideFromAddress(keepFragment(arrival, address));
  arrival = lookAtHash(arrival, address);
  arrival = saveWebbundle(arrival, address, rules);
  arrival = saveTwoFactorDestination(arrival, address);
  return hideFromAddress(forgetResetHash(saveResetHash(arrival, place)));
}

/** Whether a hash names no publicly reachable screen and is therefore a destination. */
export function isForeign(hash: string): boolean {
  return hash !== '' && hash !== '#' && !publicHash.test(hash);
}

/**
 * Whether a hash is the answer of a provider that used the fragment (OAuth 2.0 Multiple Response Types §2.1). The
 * server never saw it, so the page reports a failure; the code is not a destination and must not be stored in the tab.
 */
function isProviderAnswer(hash: string): boolean {
  return /^#(?:[^/#][^#]*&)?(?:code|state|id_token|access_token|error)=/.test(hash);
}

/** A hub page requested while a code is pending redirects here, and the browser keeps its fragment. */
function keepFragment(arrival: Arrival, address: Address): Arrival {
  const kept = saveTwoFactorDestination(arrival, address);
  const isAsked = rawRedirectUrl(address.search) !== undefined && kept.warning === null;
  const start = isAsked ? (kept.saved.loginHashFragment ?? '') : '';
  const loginHashFragment = start === '' ? address.hash.slice(1) : start.includes('#') ? start : start + address.hash;
  const loginHashFragmentFrom = start === '' ? null : 'redirectURL';
  const saved = { ...kept.saved, loginHashFragment, loginHashFragmentFrom } as const;
  return { ...kept, saved, shown: { ...kept.shown, hash: '' } };
}

function lookAtHash(arrival: Arrival, { search, hash }: Address): Arrival {
  const { place, saved, shown } = arrival;
  if (hash === '' || hash === '#') return arrival;
  if (place.screen.name === 'loginFail' && isProviderAnswer(hash)) return { ...arrival, shown: { ...shown, hash: '' } };
  if (isForeign(hash)) {
    return {
      ...arrival,
      place: { ...place, screen: { name: 'login' } },
      saved: { ...saved, loginHashFragment: hash.slice(1), loginHashFragmentFrom: null },
      shown: { ...shown, hash: '#/login' },
    };
  }
  const { screen, search: own } = placeOfHash(hash);
  if (screen.name === 'notFound') return arrival;
  // Once a mail program has decoded a link, its fragment is of the page that whoever asked for it chose to follow.
  const whole = linkOf(place) === null ? withMissingOf(own, search) : withMissingOf(search, own);
  return { ...arrival, place: { ...place, screen, search: whole } };
}

/** `#/login?x=1`: its screen and its query. */
const placeOfHash = (hash: string) => placeOfUrl(hash.slice(1), '');

/** The reset link that an address opens, or null. Anything but a token is not one. */
function linkOf({ screen, search }: Place): string | null {
  const hash = screen.name === 'forgottenChange' ? parameterOf(search, queryNames.hash) : undefined;
  return hash && /^[\w-]{43}$/.test(hash) ? hash : null;
}

function saveWebbundle(arrival: Arrival, { search, hash }: Address, rules: DestinationRules): Arrival {
  for (const query of [placeOfHash(hash).search, search]) {
    const asked = parameterOf(query, queryNames.redirectUrl);
    const accepted = asked?.includes('webbundle') ? acceptableDestination(asked, rules) : null;
    if (accepted) return { ...arrival, saved: { ...arrival.saved, redirectOldWebbundleUrl: accepted } };
  }
  return arrival;
}

function saveTwoFactorDestination(arrival: Arrival, { search, hash }: Address): Arrival {
  const { place, saved } = arrival;
  if (place.screen.name !== 'twoFactor' && place.screen.name !== 'twoFactorRegistration') return arrival;
  const raw = rawRedirectUrl(place.search) || rawRedirectUrl(search);
  if (!raw) return arrival;
  try {
    const loginHashFragment = decodeURIComponent(raw.replaceAll('+', ' '));
    // A reload: the address no longer has the fragment that the tab keeps.
    const isKept = saved.loginHashFragment?.startsWith(`${loginHashFragment}#`);
    if (isKept && !hash && saved.loginHashFragmentFrom === 'redirectURL') return arrival;
    return { ...arrival, saved: { ...saved, loginHashFragment, loginHashFragmentFrom: 'redirectURL' } };
  } catch {
    return { ...arrival, warning: 'Could not parse redirectURL' };
  }
}

/**
 * Accepts the secret in the hash or the path of the new-password form, so that a link with appended text still works.
 * Removes it from the address, so that it cannot leak through a screenshot or a shared link.
 */
function saveResetHash(arrival: Arrival, placeOfPath: Place): Arrival {
  const place = [arrival.place, placeOfPath].find(({ screen }) => screen.name === 'forgottenChange');
  const hash = place && parameterOf(place.search, queryNames.hash);
  if (!hash) return arrival;
  return { ...hide(arrival, [queryNames.hash]), saved: { ...arrival.saved, passwordHashParameter: hash } };
}

/** Kept while the server may accept the link again, as it does after all other reasons. */
function forgetResetHash(arrival: Arrival): Arrival {
  const { screen, search } = arrival.place;
  const { userNotFound, requestExpired } = changeFailedReasons;
  const reason = screen.name === 'forgottenChangeFailedInfo' ? reasonOfSearch(search) : null;
  const isOver = screen.name === 'forgottenChangedInfo' || reason === userNotFound || reason === requestExpired;
  return isOver ? { ...arrival, saved: { ...arrival.saved, passwordHashParameter: null } } : arrival;
}

/** One-time messages must not stay in the address, nor a name on the screen that asks for none. */
function hideFromAddress(arrival: Arrival): Arrival {
  const { screen, search } = arrival.place;
  const isChoice = noticeOfSearch(search) === 'chooseConnection';
  return hide(arrival, [
    ...(isChoice ? [] : [queryNames.notice]),
    ...(screen.name === 'emailInfo' ? [queryNames.login] : []),
  ]);
}

const hide = (arrival: Arrival, names: readonly string[]): Arrival => ({
  ...arrival,
  shown: addressWithout(arrival.shown, names),
});

const rawRedirectUrl = (search: string) => /[?&]redirectURL=([^&]*)/.exec(search)?.[1];

/**
 * Applies the arrival rules to the current address: saves, shows and warns as they say. On a page that the server answers in
 * place of a screen only a reset link in the fragment counts: a redirect keeps it, and the person may be signed in.
 */
export function settle({ pathname, search, hash }: Address, store: SavedValuesStore, page: Page): Arrival {
  const arrival = arrive({ pathname, search, hash }, store.read(), page.rules, 'secondFactor' in page.screen);
  const { shown } = arrival;
  if (!hasAddress(page.screen) && (arrival.place.screen.name !== 'forgottenChange' || shown.hash === hash))
    return arrival;
  store.write(arrival.saved);
  if (arrival.warning) console.warn(arrival.warning);
  if (shown.search !== search || shown.hash !== hash) {
    history.replaceState(null, '', shown.pathname + shown.search + shown.hash);
  }
  return arrival;
}
