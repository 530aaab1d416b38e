import { limits } from '../limits.ts';
import type { Connection } from './database.ts';
import type { Fragment } from './sso-domain.ts';

type SignInOfBrowser = {
  /**
   * Of the session cookie, if it stood for a session when the request began; if that was signed out since, here or elsewhere,
   * nothing is stored.
   */
  unlessSignedOut: Buffer | null;
  /** Of the session cookie that the browser presents, or what stands for it (visitor/turn-hash.ts). */
  replacedTokenHash: Buffer | null;
  userId: string;
  /** When the request began. */
  now: Date;
};

/**
 * A condition: since a user's sign-in began in a browser nobody has signed out there, nor in as another person. An answer that is
 * stored late would bring back who has left, or end the session of who came after (docs/decisions/0028).
 */
export function notOvertaken(
  sql: Connection,
  { unlessSignedOut, replacedTokenHash, userId, now }: SignInOfBrowser,
): Fragment {
  const signedOutSince = new Date(now.getTime() + limits.signOutKept);
  return sql`
    not exists (select from signed_out_session where token_hash = ${unlessSignedOut}
      or token_hash = ${replacedTokenHash} and ends_at > ${signedOutSince})
    and not exists (select from ended_session where token_hash = ${unlessSignedOut})
    and not exists (select from session newer where newer.former_token_hash = ${replacedTokenHash}
      and newer.user_id <> ${userId} and newer.created_at > ${now})`;
}

/** Whether the condition does not hold. */
export async function isOvertaken(sql: Connection, signIn: SignInOfBrowser): Promise<boolean> {
  return (await sql`select where ${notOvertaken(sql, signIn)}`).length === 0;
}
