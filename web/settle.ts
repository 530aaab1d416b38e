import type { Page } from '#contract/page.ts';
import { type Address, type Arrival, arrive } from './page-load.ts';
import type { SavedValuesStore } from './saved-values.ts';
import { tellOfLink } from './tell-of-link.ts';

/**
 * Applies the arrival rules to the current address: saves, shows and warns as they say, and reports a reset link, also
 * one that is entered in an open page.
 */
export function settle({ pathname, search, hash }: Address, store: SavedValuesStore, page: Page): Arrival {
  const arrival = arrive({ pathname, search, hash }, store.read(), page.rules, page.secondFactor !== undefined);
  store.write(arrival.saved);
  if (arrival.warning) console.warn(arrival.warning);
  const { shown } = arrival;
  if (shown.search !== search || shown.hash !== hash) {
    history.replaceState(null, '', shown.pathname + shown.search + shown.hash);
  }
  tellOfLink(arrival, page);
  return arrival;
}
