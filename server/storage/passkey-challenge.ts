import type { Connection } from './database.ts';
import { deleteInParts } from './delete-in-parts.ts';

/** What a ceremony is begun for; its answer counts for nothing else. */
export type PasskeyPurpose = 'sign-in' | 'second-factor' | 'invitation' | PurposeOfSession;

/** What a signed-in person begins: their session is stored beside it. */
type PurposeOfSession = 'enrol' | 'prove';

/**
 * A ceremony begun in a browser; `sessionId` is of the session that has begun it, `linkHash` of the link of an invitation, each
 * null for every other purpose.
 */
export type PasskeyChallenge = { purpose: PasskeyPurpose; sessionId: string | null; linkHash?: Buffer | null };

/** Stores a challenge until `endsAt`. */
export async function insertPasskeyChallenge(
  sql: Connection,
  challenge: PasskeyChallenge & { challengeHash: Buffer; browserHash: Buffer; endsAt: Date },
): Promise<void> {
  const { challengeHash, browserHash, purpose, sessionId, linkHash = null, endsAt } = challenge;
  await sql`
    insert into passkey_challenge (challenge_hash, browser_hash, purpose, session_id, link_hash, ends_at)
    values (${challengeHash}, ${browserHash}, ${purpose}, ${sessionId}, ${linkHash}, ${endsAt})`;
}

/**
 * Takes a challenge of this browser: of several concurrent answers one gets it. Null if it is unknown, another browser's,
 * or taken; `isOver` if it has expired.
 */
export async function takePasskeyChallenge(
  sql: Connection,
  { challengeHash, browserHash, now }: { challengeHash: Buffer; browserHash: Buffer; now: Date },
): Promise<(PasskeyChallenge & { isOver: boolean }) | null> {
  const [row] = await sql<(PasskeyChallenge & { isOver: boolean })[]>`
    delete from passkey_challenge where challenge_hash = ${challengeHash} and browser_hash = ${browserHash}
    returning purpose, session_id as "sessionId", link_hash as "linkHash", ends_at <= ${now} as "isOver"`;
  return row ?? null;
}

/** Deletes challenges that have expired at `now`; returns how many. */
export async function deleteOldPasskeyChallenges(sql: Connection, now: Date): Promise<number> {
  return await deleteInParts(sql, 'passkey_challenge', sql`ends_at <= ${now}`);
}
