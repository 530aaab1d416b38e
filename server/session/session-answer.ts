import type { SessionAnswer } from '#contract/payloads.ts';
import type { Deps } from '../deps/deps.ts';
import { tokenHash } from '../secrets/token.ts';
import {
  type CheckedSession,
  type FullSession,
  type NamedSession,
  type PresentedSession,
  updateSessionChecked,
  updateSessionSeen,
} from '../storage/session.ts';
import type { Visitor } from '../visitor/visitor.ts';
import { sessionTouchEvery } from '../visitor/who.ts';

/** Who is signed in: the answer of `GET session` as JSON text, and what a hub's token says besides. */
export type AnsweredSession = NamedSession & { answer: string };

/**
 * The answer of `GET session`, or null if nobody is signed in. Hub pages request this every time, so the answer of a full
 * check is cached with the session until anything it depends on changes (docs/decisions/0006).
 */
export async function sessionAnswer(
  deps: Deps,
  { sessionToken, address, isUse, who }: Visitor,
  findChecked: (presented: PresentedSession) => Promise<CheckedSession | null>,
): Promise<AnsweredSession | null> {
  if (!sessionToken || !address) return null;
  const now = deps.now();
  const hash = tokenHash(sessionToken);
  const kept = await findChecked({ tokenHash: hash, address });
  if (kept) {
    const age = now.getTime() - kept.lastSeenAt.getTime();
    if (age >= deps.config.sessionIdle || kept.endsAt <= now) return null;
    if (isUse && age >= sessionTouchEvery) await updateSessionSeen(deps.sql, hash, now);
    return kept;
  }
  const found = await who();
  if (found.kind !== 'full') return null;
  const answer = JSON.stringify(answerOf(found.session));
  await updateSessionChecked(deps.sql, hash, { answer, address, accessVersion: found.session.accessVersion });
  return { ...found.session, answer };
}

function answerOf({ username, email, language, customers, createdAt, endsAt }: FullSession): SessionAnswer {
  return {
    username,
    email,
    language,
    customers,
    signedInAt: createdAt.toISOString(),
    expiresAt: endsAt.toISOString(),
  };
}
