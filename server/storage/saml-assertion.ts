import type { Connection } from './database.ts';
import { deleteInParts } from './delete-in-parts.ts';

/** Records that an assertion was used; false if it already was. Concurrent calls get true once. */
export async function insertSamlAssertion(
  sql: Connection,
  { connectionId, assertionHash, endsAt }: { connectionId: string; assertionHash: Buffer; endsAt: Date },
): Promise<boolean> {
  const rows = await sql`
    insert into saml_assertion (connection_id, assertion_hash, ends_at)
    values (${connectionId}, ${assertionHash}, ${endsAt}) on conflict do nothing returning ends_at`;
  return rows.length > 0;
}

/** Deletes assertions that have expired; returns how many. */
export async function deleteOldSamlAssertions(sql: Connection, now: Date): Promise<number> {
  return await deleteInParts(sql, 'saml_assertion', sql`ends_at <= ${now}`);
}
