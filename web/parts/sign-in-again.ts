import { isDefaultDestination } from '#contract/destination.ts';
import { queryNames } from '#contract/screens.ts';
import { usePortalUrls } from '../portal-urls.ts';
import { parameterOf } from '../query.ts';
import { useVisit } from '../visit.ts';

/** The sign-in form for starting again, with the same destination. */
export function useSignInAgain(): { destination: string | undefined; url: () => string } {
  const { page, place } = useVisit();
  const { toScreen } = usePortalUrls();
  const asked = parameterOf(place.search, queryNames.redirectUrl);
  const destination = asked === null || isDefaultDestination(asked, page.rules.basePath) ? undefined : asked;
  return { destination, url: () => toScreen('login', { destination }) };
}
