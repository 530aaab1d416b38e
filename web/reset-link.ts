import type { Page } from '#contract/page.ts';
import { queryNames } from '#contract/screens.ts';
import { type Place, placeOfUrl } from './place.ts';
import { parameterOf } from './query.ts';
import type { SavedValues } from './saved-values.ts';

/** What the form for a new password sends of its link, and the account behind it as far as it is known. */
export type ResetLink = { hash: string; username: string };

/**
 * The link of the address, else the one that this tab saved, else the one that waits in this browser. The server named
 * the account of the link that it saw; another tab's link may be another account's, whose name is not this one.
 */
export function resetLinkOf(page: Page, place: Place, saved: SavedValues): ResetLink {
  const seenByServer =
    parameterOf(placeOfUrl(page.url, page.rules.basePath).search, queryNames.hash) || page.resetHash || '';
  const hash = parameterOf(place.search, queryNames.hash) || saved.passwordHashParameter || page.resetHash || '';
  return { hash, username: hash !== '' && hash === seenByServer ? page.typedUsername : '' };
}
