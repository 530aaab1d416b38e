import type { Page } from '#contract/page.ts';
import { queryNames, screenUrl } from '#contract/screens.ts';
import { linkOf } from './link-of-place.ts';
import type { Arrival } from './page-load.ts';
import { placeOfUrl } from './place.ts';

/**
 * Tells the server which reset link a fragment contains, since only the browser sees it: the browser's history keeps
 * such a link too, so it has to end with the next sign-in or sign-out here (docs/decisions/0027).
 */
export function tellOfLink({ place }: Arrival, { url, rules, isStatic }: Page): void {
  const hash = linkOf(place);
  if (hash === null || isStatic || hash === linkOf(placeOfUrl(url, rules.basePath))) return;
  fetch(screenUrl(rules.basePath, 'forgottenChange', { [queryNames.hash]: hash }), { method: 'HEAD' }).catch(() => {});
}
