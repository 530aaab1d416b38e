import type { Connection } from './database.ts';
import { hasEmailToProve } from './email-before-app.ts';
import { rowOrNull } from './row-or-null.ts';

/** What a person has proven again in their session. */
export type ProofKind = 'password' | 'code';

export type FreshProof = { kind: ProofKind; at: Date };

/** What a session has proven last, however long ago; or null. */
export async function findFreshProof(sql: Connection, sessionHash: Buffer): Promise<FreshProof | null> {
  return await rowOrNull(sql<FreshProof[]>`
    select fresh_proof as kind, fresh_proof_at as at from session
    where token_hash = ${sessionHash} and fresh_proof is not null`);
}

/**
 * When a session has proven its password last, if that is enough to set up an app (docs/decisions/0014): not where a code by
 * email comes first, nor in a session that more than the password has opened, or a remembered device; or null.
 */
export async function findProofToRegister(sql: Connection, sessionHash: Buffer): Promise<Date | null> {
  const [row] = await sql<{ at: Date }[]>`
    select s.fresh_proof_at as at from session s
    where s.token_hash = ${sessionHash} and s.fresh_proof = 'password' and s.proven = 'none'
      and not ${hasEmailToProve(sql, sql`s.user_id`)}`;
  return row?.at ?? null;
}

/** Notes what a full session has proven; false if it has ended meanwhile. */
export async function putFreshProof(sql: Connection, sessionHash: Buffer, { kind, at }: FreshProof): Promise<boolean> {
  const { count } = await sql`
    update session set fresh_proof = ${kind}, fresh_proof_at = ${at}
    where token_hash = ${sessionHash} and stage = 'full' and ends_at > ${at}`;
  return count > 0;
}
