import type { IncomingHttpHeaders } from 'node:http';
import { accountHeader } from '#contract/headers.ts';
import type { Problem } from '#contract/payloads.ts';
import { queryNames, screenUrl } from '#contract/screens.ts';
import { forOtherAccount } from '#contract/sign-out-question.ts';
import type { Config } from '../config/config.ts';
import { signOutQuestionUrl } from '../session/sign-out-question.ts';
import { isSignedOut, personOf, type Who } from '../visitor/who.ts';

type Sent = { headers: IncomingHttpHeaders; form: { account?: string } | null };

/**
 * Whose second-factor page sends a request: that of whoever is signed in here, half or fully; somebody else's, if another
 * person has signed in in another tab since; or nobody's, if it doesn't say, such as another client's. A form says it in a
 * field, a script in a header.
 */
export function ownerOfPage(who: Who, { headers, form }: Sent): 'visitor' | 'other' | 'unknown' {
  const said = form ? form.account : headers[accountHeader];
  const person = personOf(who);
  if (!said || !person) return 'unknown';
  return said === (form ? person.username : encodeURIComponent(person.username)) ? 'visitor' : 'other';
}

/** What whoever begins again has to know, as a script is told it. */
export type SignInOver = Pick<Problem, 'since'>;

/**
 * What follows if the sign-in of a second-factor page is over. Somebody else may be at the form by now: where its page was
 * to lead is not for the next sign-in. Or they are signed in, and the form would lead on in their session.
 */
export function signInOver(who: Who, sent: Sent): SignInOver {
  if (isSignedOut(who)) return { since: 'signOut' };
  return who.kind === 'full' && ownerOfPage(who, sent) !== 'visitor' ? { since: 'otherSignIn' } : {};
}

/** Where a page without a script begins again; `asked`: the destination of its form. */
export function urlAfterSignInOver(
  { basePath }: Config,
  { since }: SignInOver,
  { asked, lang }: { asked: string | undefined; lang: string | undefined },
): string {
  if (since === 'otherSignIn') return signOutQuestionUrl(basePath, forOtherAccount, { lang });
  const destination = since === 'signOut' ? undefined : asked || undefined;
  return screenUrl(basePath, 'login', {
    [queryNames.notice]: 'signInExpired',
    [queryNames.destination]: destination,
    lang,
  });
}
