import type { SessionAnswer } from '#contract/payloads.ts';
import type { Deps } from '../deps.ts';
import { limits } from '../limits.ts';
import { tokenHash } from '../secrets/token.ts';
import {
  findCheckedSession,
  findSession,
  type SessionRow,
  updateSessionChecked,
  updateSessionSeen,
} from '../storage/session.ts';

/**
 * The session with its user for a token used from an address, or null. The customers' networks are checked again every
 * time; if none admits the address there is no session (decisions §7).
 */
export async function sessionOfToken(deps: Deps, token: string, address: string): Promise<SessionRow | null> {
  return await wholeCheck(deps, tokenHash(token), address, deps.now());
}

/**
 * The answer of `GET session` for a token used from an address, as JSON text, or null if nobody is signed in. Hub pages
 * request this every time, so the answer of a full check is cached with the session until anything it depends on
 * changes (docs/decisions/0006).
 */
export async function sessionAnswer(deps: Deps, token: string, address: string): Promise<string | null> {
  const now = deps.now();
  const hash = tokenHash(token);
  const kept = await findCheckedSession(deps.sql, hash, address);
  if (kept) {
    const age = now.getTime() - kept.lastSeenAt.getTime();
    if (age >= deps.config.sessionIdle || kept.endsAt <= now) return null;
    if (age >= limits.sessionTouchEvery) await updateSessionSeen(deps.sql, hash, now);
    return kept.answer;
  }
  const session = await wholeCheck(deps, hash, address, now);
  if (session?.stage !== 'full') return null;
  const answer = JSON.stringify(answerOf(session));
  await updateSessionChecked(deps.sql, hash, { answer, address, accessVersion: session.accessVersion });
  return answer;
}

async function wholeCheck(deps: Deps, hash: Buffer, address: string, now: Date): Promise<SessionRow | null> {
  const idleSince = new Date(now.getTime() - deps.config.sessionIdle);
  const session = await findSession(deps.sql, hash, { address, idleSince, now });
  if (!session || session.customers.length === 0) return null;
  if (now.getTime() - session.lastSeenAt.getTime() >= limits.sessionTouchEvery) {
    await updateSessionSeen(deps.sql, hash, now);
  }
  return session;
}

function answerOf({ username, email, language, customers, createdAt, endsAt }: SessionRow): SessionAnswer {
  return {
    username,
    email,
    language,
    customers,
    signedInAt: createdAt.toISOString(),
    expiresAt: endsAt.toISOString(),
  };
}
