import type { Connection } from './database.ts';
import { deleteInParts } from './delete-in-parts.ts';

/** Records that a logout token was used; false if it already was. Concurrent calls get true once. */
export async function insertOidcLogoutToken(
  sql: Connection,
  { connectionId, jtiHash, endsAt }: { connectionId: string; jtiHash: Buffer; endsAt: Date },
): Promise<boolean> {
  const rows = await sql`
    insert into oidc_logout_token (connection_id, jti_hash, ends_at)
    values (${connectionId}, ${jtiHash}, ${endsAt}) on conflict do nothing returning ends_at`;
  return rows.length > 0;
}

/** Deletes tokens that have expired; returns how many. */
export async function deleteOldOidcLogoutTokens(sql: Connection, now: Date): Promise<number> {
  return await deleteInParts(sql, 'oidc_logout_token', sql`ends_at <= ${now}`);
}
