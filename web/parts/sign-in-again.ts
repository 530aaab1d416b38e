import type { Notice } from '#contract/notices.ts';
import { queryNames } from '#contract/screens.ts';
import { usePortalUrls } from '../portal-urls.ts';
import { parameterOf } from '../query.ts';
import { useVisit } from '../visit.ts';

/** The sign-in form for whoever has to begin again: who signs in next still wants to go where this one did. */
export function useSignInAgain(): { destination: string | undefined; url: (notice?: Notice) => string } {
  const { place } = useVisit();
  const { toScreen } = usePortalUrls();
  const destination = parameterOf(place.search, queryNames.redirectUrl) ?? undefined;
  return { destination, url: (notice) => toScreen('login', { destination, notice }) };
}
