import { limits } from '../limits.ts';
import { newToken, tokenHash } from '../secrets/token.ts';
import type { Connection } from '../storage/database.ts';
import { insertResetLink } from '../storage/reset-link.ts';

/** Creates a link for a user and returns its token, of which only a hash is stored. It is valid for an hour. */
export async function makeResetToken(sql: Connection, userId: string, now: Date): Promise<string> {
  const token = newToken();
  const endsAt = new Date(now.getTime() + limits.resetLink);
  await insertResetLink(sql, { tokenHash: tokenHash(token), userId, madeAt: now, endsAt });
  return token;
}
