import { queryNames, screenUrl } from '#contract/screens.ts';
import type { Config } from '../config/config.ts';

/** Where a page without a script begins again once its sign-in is over; `asked`: the destination of its form. */
export function urlAfterSignInOver(
  { basePath }: Config,
  { asked, lang }: { asked: string | undefined; lang: string | undefined },
): string {
  return screenUrl(basePath, 'login', {
    [queryNames.notice]: 'signInExpired',
    [queryNames.destination]: asked || undefined,
    lang,
  });
}
