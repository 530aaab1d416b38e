import type { Connection } from './database.ts';
import { deleteInParts } from './delete-in-parts.ts';

/** The subject of a logout, and when the provider issued it. */
export type ProviderLogout = {
  connectionId: string;
  subjectHash: Buffer | null;
  /** The affected provider sessions; none if all of the subject are. */
  sessionHashes: readonly Buffer[];
  issuedAt: Date;
  endsAt: Date;
};

/**
 * Records a logout, after the connection's sign-ins in progress and before new ones. Both lock the connection before
 * users, and users before sessions, so that they cannot deadlock.
 */
export async function insertProviderLogout(sql: Connection, logout: ProviderLogout): Promise<void> {
  const { connectionId, subjectHash, sessionHashes, issuedAt, endsAt } = logout;
  await sql`select from sso_connection where id = ${connectionId} for no key update`;
  for (const sessionHash of sessionHashes.length === 0 ? [null] : sessionHashes)
    await sql`
      insert into provider_logout (connection_id, subject_hash, session_hash, issued_at, ends_at)
      values (${connectionId}, ${subjectHash}, ${sessionHash}, ${issuedAt}, ${endsAt})`;
}

/**
 * When a provider ended what an answer issued before names, or null. An equal time counts as before: OpenID tokens have
 * only seconds.
 */
export async function findProviderLogout(
  sql: Connection,
  answer: { connectionId: string; subjectHash: Buffer; sessionHash: Buffer | null; issuedAt: Date },
  now: Date,
): Promise<Date | null> {
  const { connectionId, subjectHash, sessionHash, issuedAt } = answer;
  const [row] = await sql<{ issuedAt: Date }[]>`
    select issued_at as "issuedAt" from provider_logout
    where connection_id = ${connectionId} and issued_at >= ${issuedAt} and ends_at > ${now}
      and (subject_hash is null or subject_hash = ${subjectHash})
      and (session_hash is null or session_hash = ${sessionHash}::bytea
        or ${sessionHash}::bytea is null and subject_hash is not null)
    order by issued_at desc limit 1`;
  return row?.issuedAt ?? null;
}

/** Deletes entries that no valid answer can match any more; returns how many. */
export async function deleteOldProviderLogouts(sql: Connection, now: Date): Promise<number> {
  return await deleteInParts(sql, 'provider_logout', sql`ends_at <= ${now}`);
}
