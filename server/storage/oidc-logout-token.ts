import type { Connection } from './database.ts';

/** Notes that a logout token was used; false when it was before. Of several at once one gets true. */
export async function insertOidcLogoutToken(
  sql: Connection,
  { connectionId, jtiHash, endsAt }: { connectionId: string; jtiHash: Buffer; endsAt: Date },
): Promise<boolean> {
  const rows = await sql`
    insert into oidc_logout_token (connection_id, jti_hash, ends_at)
    values (${connectionId}, ${jtiHash}, ${endsAt}) on conflict do nothing returning ends_at`;
  return rows.length > 0;
}

/** Deletes what could not be shown again any more; returns how many. */
export async function deleteOldOidcLogoutTokens(sql: Connection, now: Date): Promise<number> {
  return (await sql`delete from oidc_logout_token where ends_at <= ${now}`).count;
}
