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
  warning: string | null;
};

/** What a page load does before anything renders. `isCodePending`: the address is of an open second factor. */
export function arrive(address: Address, saved: SavedValues, rules: DestinationRules, isCodePending = false): Arrival {
  const place = placeOfUrl(address.pathname + address.search, rules.basePath);
  const arrival: Arrival = { place, saved: { ...saved }, shown: address, warning: null };
  if (isCodePending && isForeign(address.hash)) keepFragment(arrival, address);
  else {
    lookAtHash(arrival, address);
    saveWebbundle(arrival, address, rules);
    saveTwoFactorDestination(arrival, address);
    saveResetHash(arrival, place);
    forgetResetHash(arrival);
  }
  hideFromAddress(arrival);
  return arrival;
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
function keepFragment(arrival: Arrival, address: Address): void {
  saveTwoFactorDestination(arrival, address);
  const { saved, shown, warning } = arrival;
  const isAsked = rawRedirectUrl(address.search) !== undefined && warning === null;
  const start = (isAsked && saved.loginHashFragment) || '';
  if (!start.includes('#')) saved.loginHashFragment = start + address.hash.slice(start === '' ? 1 : 0);
  saved.loginHashFragmentFrom = start === '' ? null : 'redirectURL';
  arrival.shown = { ...shown, hash: '' };
}

function lookAtHash(arrival: Arrival, { search, hash }: Address): void {
  const { place, saved, shown } = arrival;
  if (hash === '' || hash === '#') return;
  if (place.screen.name === 'loginFail' && isProviderAnswer(hash)) arrival.shown = { ...shown, hash: '' };
  else if (isForeign(hash)) {
    arrival.place = { ...place, screen: { name: 'login' } };
    arrival.shown = { ...shown, hash: '#/login' };
    Object.assign(saved, { loginHashFragment: hash.slice(1), loginHashFragmentFrom: null });
  } else {
    const { screen, search: own } = placeOfHash(hash);
    if (screen.name === 'notFound') return;
    // Once a mail program has decoded a link, its fragment is of the page that whoever asked for it chose to follow.
    const whole = linkOf(place) === null ? withMissingOf(own, search) : withMissingOf(search, own);
    arrival.place = { ...place, screen, search: whole };
  }
}

/** `#/login?x=1`: its screen and its query. */
const placeOfHash = (hash: string) => placeOfUrl(hash.slice(1), '');

/** The reset link that an address opens, or null. Anything but a token is not one. */
function linkOf({ screen, search }: Place): string | null {
  const hash = screen.name === 'forgottenChange' ? parameterOf(search, queryNames.hash) : undefined;
  return hash && /^[\w-]{43}$/.test(hash) ? hash : null;
}

function saveWebbundle({ saved }: Arrival, { search, hash }: Address, rules: DestinationRules): void {
  for (const query of [search, placeOfHash(hash).search]) {
    const asked = parameterOf(query, queryNames.redirectUrl);
    const accepted = asked?.includes('webbundle') && acceptableDestination(asked, rules);
    if (accepted) saved.redirectOldWebbundleUrl = accepted;
  }
}

function saveTwoFactorDestination(arrival: Arrival, { search, hash }: Address): void {
  const { place, saved } = arrival;
  if (place.screen.name !== 'twoFactor' && place.screen.name !== 'twoFactorRegistration') return;
  const raw = rawRedirectUrl(place.search) || rawRedirectUrl(search);
  if (!raw) return;
  try {
    const loginHashFragment = decodeURIComponent(raw.replaceAll('+', ' '));
    // A reload: the address no longer has the fragment that the tab keeps.
    const isKept = saved.loginHashFragment?.startsWith(`${loginHashFragment}#`);
    if (isKept && !hash && saved.loginHashFragmentFrom === 'redirectURL') return;
    Object.assign(saved, { loginHashFragment, loginHashFragmentFrom: 'redirectURL' });
  } catch {
    arrival.warning = 'Could not parse redirectURL';
  }
}

/**
 * Accepts the secret in the hash or the path of the new-password form, so that a link with appended text still works.
 * Removes it from the address, so that it cannot leak through a screenshot or a shared link.
 */
function saveResetHash(arrival: Arrival, placeOfPath: Place): void {
  const place = [arrival.place, placeOfPath].find(({ screen }) => screen.name === 'forgottenChange');
  const hash = place && parameterOf(place.search, queryNames.hash);
  if (!hash) return;
  arrival.saved.passwordHashParameter = hash;
  hide(arrival, [queryNames.hash]);
}

/** Kept while the server may accept the link again, as it does after all other reasons. */
function forgetResetHash({ place: { screen, search }, saved }: Arrival): void {
  const { userNotFound, requestExpired } = changeFailedReasons;
  const reason = screen.name === 'forgottenChangeFailedInfo' ? reasonOfSearch(search) : null;
  if (screen.name === 'forgottenChangedInfo' || reason === userNotFound || reason === requestExpired)
    saved.passwordHashParameter = null;
}

/** One-time messages must not stay in the address, nor a name on the screen that asks for none. */
function hideFromAddress(arrival: Arrival): void {
  const { screen, search } = arrival.place;
  if (noticeOfSearch(search) !== 'chooseConnection') hide(arrival, [queryNames.notice]);
  if (screen.name === 'emailInfo') hide(arrival, [queryNames.login]);
}

function hide(arrival: Arrival, names: readonly string[]): void {
  arrival.shown = addressWithout(arrival.shown, names);
}

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
