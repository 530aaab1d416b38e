import type { Page } from '#contract/page.ts';
import { queryNames } from '#contract/screens.ts';
import { addressWithout } from './addresses.ts';
import { nothingSaved, type SavedValuesStore } from './saved-values.ts';

/** In local storage the time of the last sign-out; in session storage the last one that a page in this tab knew of. */
const key = 'signedOut';

/** What an address may say of the person who has left. */
const ofPerson = [queryNames.destination, queryNames.redirectUrl, queryNames.login];

/**
 * After a sign-out no tab remembers what an address told it. The page that the sign-out leads to tells the others, which load
 * again; one that showed no page of ours at that moment notices with its next.
 */
export function followSignOuts(page: Page, store: SavedValuesStore): void {
  if (page.isSignedOut) store.write(nothingSaved);
  try {
    if (page.isSignedOut) localStorage.setItem(key, String(Date.now()));
    const last = localStorage.getItem(key) ?? '';
    if ((sessionStorage.getItem(key) ?? last) !== last) store.write(nothingSaved);
    sessionStorage.setItem(key, last);
  } catch {
    // Storage is refused, so no other page left anything in it.
  }
  addEventListener('storage', (event) => {
    if (event.key !== key) return;
    store.write(nothingSaved);
    const { pathname, search, hash } = addressWithout(location, ofPerson);
    history.replaceState(null, '', pathname + search + hash);
    location.reload();
  });
}
