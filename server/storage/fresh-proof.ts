import type { Connection } from './database.ts';
import { hasEmailToProve } from './email-before-app.ts';
import { rowOrNull } from './row-or-null.ts';

/** What a person has proven again in their session; a passkey counts as much as a code. */
export type ProofKind = 'password' | 'code';

/** `passkeyId`: the passkey that gave it; null for a password, and for a code that was typed. */
export type FreshProof = { kind: ProofKind; at: Date; passkeyId: string | null };

/** What a session has proven last, however long ago; or null. */
export async function findFreshProof(sql: Connection, sessionId: string): Promise<FreshProof | null> {
  return await rowOrNull(sql<FreshProof[]>`
    select fresh_proof as kind, fresh_proof_at as at, fresh_proof_passkey_id as "passkeyId" from session
    where id = ${sessionId} and fresh_proof is not null`);
}

/**
 * When a session has proven its password last, or a passkey, if that is enough to set up an app (docs/decisions/0014): a password
 * not where a code by email comes first, nor in a session that more than the password has opened, or a remembered device; or null.
 */
export async function findProofToRegister(sql: Connection, sessionId: string): Promise<Date | null> {
  const [row] = await sql<{ at: Date }[]>`
    select s.fresh_proof_at as at from session s
    where s.id = ${sessionId} and (s.fresh_proof = 'code' and s.fresh_proof_passkey_id is not null
      or s.fresh_proof = 'password' and s.proven = 'none' and not ${hasEmailToProve(sql, sql`s.user_id`)})`;
  return row?.at ?? null;
}

/** Notes what a full session has proven; false if it has ended meanwhile. */
export async function putFreshProof(
  sql: Connection,
  sessionId: string,
  { kind, at, passkeyId }: FreshProof,
): Promise<boolean> {
  const { count } = await sql`
    update session set fresh_proof = ${kind}, fresh_proof_at = ${at}, fresh_proof_passkey_id = ${passkeyId}
    where id = ${sessionId} and stage = 'full' and ends_at > ${at}`;
  return count > 0;
}

/**
 * Ends what a passkey has proven in a user's sessions, but not in `kept`, the session that removes it.
 */
export async function endProofsByPasskey(
  sql: Connection,
  { userId, passkeyId, kept }: { userId: string; passkeyId: string; kept: string | null },
): Promise<void> {
  await sql`
    update session set fresh_proof = null, fresh_proof_at = null, fresh_proof_passkey_id = null
    where user_id = ${userId} and fresh_proof_passkey_id = ${passkeyId} and id is distinct from ${kept}::uuid`;
}
