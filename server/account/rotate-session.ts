import { tokenHash } from '../secrets/token.ts';
import type { Connection } from '../storage/database.ts';
import { endFreshProof } from '../storage/fresh-proof.ts';
import { deleteSiblings } from '../storage/replaced-session.ts';
import { updateSessionToken } from '../storage/session.ts';
import { deletePendingTotp } from '../storage/totp.ts';
import type { AccountVisit } from './account-visit.ts';

/**
 * Gives a visit's session its next token, in the transaction of what a press has done: a copy of the former one is signed out.
 * What it has proven goes on in its own browser, and ends in any other one; a key that the next app was shown does not go on.
 */
export async function rotateSession(
  sql: Connection,
  { session, sessionHash: before, pressToken }: AccountVisit,
  { token, now }: { token: string; now: Date },
): Promise<void> {
  const after = tokenHash(token);
  await deleteSiblings(sql, before, now);
  await deletePendingTotp(sql, session.id);
  await updateSessionToken(sql, { before, after, pressAt: now, now });
  if (pressToken === null) await endFreshProof(sql, after);
}
