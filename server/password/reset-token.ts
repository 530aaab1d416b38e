import { limits } from '../limits.ts';
import { newToken, tokenHash } from '../secrets/token.ts';
import type { Connection } from '../storage/database.ts';
import { insertResetLink, type LinkPurpose, withdrawLinksOfUser } from '../storage/reset-link.ts';

const lifetimes: Record<LinkPurpose, number> = { reset: limits.resetLink, invitation: limits.invitation };

/** Creates a link for a user, in place of those made before, and returns its token, of which only a hash is stored. */
export async function makeResetToken(
  sql: Connection,
  userId: string,
  now: Date,
  purpose: LinkPurpose = 'reset',
): Promise<string> {
  await withdrawLinksOfUser(sql, userId, purpose);
  const token = newToken();
  const endsAt = new Date(now.getTime() + lifetimes[purpose]);
  await insertResetLink(sql, { tokenHash: tokenHash(token), userId, purpose, madeAt: now, endsAt });
  return token;
}
