import type { Page } from '#contract/page.ts';
import { type Arrival, arrive } from './page-load.ts';
import type { Address } from './query.ts';
import type { SavedValuesStore } from './saved-values.ts';

/**
 * Applies the arrival rules to the current address: saves, shows and warns as they say. On a page that the server answers in
 * place of a screen only a reset link in the fragment counts: a redirect keeps it, and the person may be signed in.
 */
export function settle({ pathname, search, hash }: Address, store: SavedValuesStore, page: Page): Arrival {
  const arrival = arrive({ pathname, search, hash }, store.read(), page.rules, page.secondFactor !== undefined);
  const { shown } = arrival;
  if (page.serverPage && (arrival.place.screen.name !== 'forgottenChange' || shown.hash === hash)) return arrival;
  store.write(arrival.saved);
  if (arrival.warning) console.warn(arrival.warning);
  if (shown.search !== search || shown.hash !== hash) {
    history.replaceState(null, '', shown.pathname + shown.search + shown.hash);
  }
  return arrival;
}
