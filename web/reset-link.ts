import type { Page } from '#contract/page.ts';
import { queryNames } from '#contract/screens.ts';
import { type Place, placeOfUrl } from './place.ts';
import { parameterOf } from './query.ts';
import type { SavedValues } from './saved-values.ts';

/** What the new-password form sends about its link, and the account behind it if known. */
export type ResetLink = { hash: string; username: string };

/**
 * The link of the address, else the one saved by this tab, else the one kept for this browser. The server's account
 * name belongs to the link that it saw; another tab's link may be for another account.
 */
export function resetLinkOf(page: Page, place: Place, saved: SavedValues): ResetLink {
  const seenByServer =
    parameterOf(placeOfUrl(page.url, page.rules.basePath).search, queryNames.hash) || page.resetHash || '';
  const hash = parameterOf(place.search, queryNames.hash) || saved.passwordHashParameter || page.resetHash || '';
  return { hash, username: hash !== '' && hash === seenByServer ? page.typedUsername : '' };
}
