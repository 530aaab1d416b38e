import type { Connection } from '../database/database.ts';
import { deleteInParts } from '../database/delete-in-parts.ts';

/** Stores a challenge until `endsAt`; `ownerHash` says who may answer it, and for what. */
export async function insertPasskeyChallenge(
  sql: Connection,
  { challengeHash, ownerHash, endsAt }: { challengeHash: Buffer; ownerHash: Buffer; endsAt: Date },
): Promise<void> {
  await sql`
    insert into passkey_challenge (challenge_hash, owner_hash, ends_at)
    values (${challengeHash}, ${ownerHash}, ${endsAt})`;
}

/** Takes a challenge of this owner; of several answers at once one gets it. False if it is over, taken, or another's. */
export async function takePasskeyChallenge(
  sql: Connection,
  { challengeHash, ownerHash, now }: { challengeHash: Buffer; ownerHash: Buffer; now: Date },
): Promise<boolean> {
  const { count } = await sql`
    delete from passkey_challenge
    where challenge_hash = ${challengeHash} and owner_hash = ${ownerHash} and ends_at > ${now}`;
  return count > 0;
}

/** Deletes challenges that have expired at `now`; returns how many. */
export async function deleteOldPasskeyChallenges(sql: Connection, now: Date): Promise<number> {
  return await deleteInParts(sql, 'passkey_challenge', sql`ends_at <= ${now}`);
}
