import type { Connection } from './database.ts';

/** Notes that an assertion was used; false when it was before. Of several at once one gets true. */
export async function insertSamlAssertion(
  sql: Connection,
  { connectionId, assertionHash, endsAt }: { connectionId: string; assertionHash: Buffer; endsAt: Date },
): Promise<boolean> {
  const rows = await sql`
    insert into saml_assertion (connection_id, assertion_hash, ends_at)
    values (${connectionId}, ${assertionHash}, ${endsAt}) on conflict do nothing returning ends_at`;
  return rows.length > 0;
}

/** Deletes what could not be shown again any more; returns how many. */
export async function deleteOldSamlAssertions(sql: Connection, now: Date): Promise<number> {
  return (await sql`delete from saml_assertion where ends_at <= ${now}`).count;
}
