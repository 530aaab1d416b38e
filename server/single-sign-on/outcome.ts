import type { LoginFailType } from '#contract/reasons.ts';
import type { Deps } from '../deps/deps.ts';
import { limits } from '../limits.ts';
import { seal, unseal } from '../secrets/sealed.ts';
import { tokenHash } from '../secrets/token.ts';
import type { SignInResult } from '../sign-in/sign-in-result.ts';
import { isSessionThere } from '../storage/session.ts';
import { outcomePlace, putOutcome, type SsoRequestRow } from '../storage/sso-request.ts';

/** What came of a visit to a provider. */
export type Outcome =
  | Extract<SignInResult, { kind: 'signedIn' | 'secondFactor' }>
  | { kind: 'refused'; type: LoginFailType; reference: string; forgets: boolean; isCancelled?: true; isUnable?: true }
  /** Somebody else is signed in here, and stays so: the page that names them and offers to sign out. */
  | { kind: 'otherAccount' }
  /** All sessions of the person were ended since the visit began: the form, with what they typed and asked for. */
  | { kind: 'ended' }
  /** To the provider once more, for a fresh sign-in. */
  | { kind: 'sentBack' }
  /** Nobody asked the provider: the page that asks. */
  | { kind: 'providerBegan' };

/**
 * Keeps the result of a visit for the browser, which may have lost the response (a second press, a slow line). A
 * repeated request gets the same result, and nothing happens twice (docs/decisions/0030).
 */
export async function keepOutcome(deps: Deps, id: string, outcome: Outcome): Promise<void> {
  await putOutcome(deps.sql, id, {
    sealedOutcome: seal(deps.keys.seal, JSON.stringify(outcome), outcomePlace(id)),
    endsAt: new Date(deps.now().getTime() + limits.outcomeKept),
  });
}

/** The result of a visit, for some seconds; null later, or once the session has ended or has another token. */
export async function keptOutcome(deps: Deps, row: SsoRequestRow): Promise<Outcome | null> {
  const { id, sealedOutcome, outcomeEndsAt } = row;
  const now = deps.now();
  if (!sealedOutcome || !outcomeEndsAt || outcomeEndsAt <= now) return null;
  const text = unseal(deps.keys.seal, sealedOutcome, outcomePlace(id));
  const outcome = text === null ? null : (JSON.parse(text) as Outcome);
  if (outcome === null || !('sessionToken' in outcome)) return outcome;
  return (await isSessionThere(deps.sql, tokenHash(outcome.sessionToken), now)) ? outcome : null;
}

/** Whether another request of this browser reads the answer, or decides what comes of it, at this moment. */
export function isUnderWay({ usedAt, sealedAnswer, answerEndsAt, ...row }: SsoRequestRow, now: Date): boolean {
  if (usedAt === null) return sealedAnswer === null && answerEndsAt !== null && answerEndsAt > now;
  return row.sealedOutcome === null && row.outcomeEndsAt !== null && row.outcomeEndsAt > now;
}
