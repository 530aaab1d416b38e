import type { Connection } from './database.ts';
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

/** Notes what a full session has proven; false if it has ended meanwhile. */
export async function putFreshProof(sql: Connection, sessionHash: Buffer, { kind, at }: FreshProof): Promise<boolean> {
  const { count } = await sql`
    update session set fresh_proof = ${kind}, fresh_proof_at = ${at}
    where token_hash = ${sessionHash} and stage = 'full' and ends_at > ${at}`;
  return count > 0;
}
