import type { Connection } from './database.ts';

/** Notes that a provider's request was taken; false when it was before. Of several at once one gets true. */
export async function insertReceivedSamlLogout(
  sql: Connection,
  { connectionId, requestHash, endsAt }: { connectionId: string; requestHash: Buffer; endsAt: Date },
): Promise<boolean> {
  const rows = await sql`
    insert into received_saml_logout (connection_id, request_hash, ends_at)
    values (${connectionId}, ${requestHash}, ${endsAt}) on conflict do nothing returning ends_at`;
  return rows.length > 0;
}

/** Keeps what the provider's answer to a request of ours must match. */
export async function insertSentSamlLogout(
  sql: Connection,
  sent: { requestHash: Buffer; connectionId: string; browserHash: Buffer; endsAt: Date },
): Promise<void> {
  const { requestHash, connectionId, browserHash, endsAt } = sent;
  await sql`
    insert into sent_saml_logout (request_hash, connection_id, browser_hash, ends_at)
    values (${requestHash}, ${connectionId}, ${browserHash}, ${endsAt})`;
}

/** The connection that an open request of ours belongs to, by whichever browser; null when it is answered or over. */
export async function findConnectionOfSentSamlLogout(
  sql: Connection,
  requestHash: Buffer,
  now: Date,
): Promise<string | null> {
  const [row] = await sql<{ connectionId: string }[]>`
    select connection_id as "connectionId" from sent_saml_logout
    where request_hash = ${requestHash} and is_whole is null and ends_at > ${now}`;
  return row?.connectionId ?? null;
}

/** Notes what the provider answered; false when it had answered before. Of several at once one gets true. */
export async function updateSentSamlLogout(
  sql: Connection,
  requestHash: Buffer,
  isWhole: boolean,
  now: Date,
): Promise<boolean> {
  const rows = await sql`
    update sent_saml_logout set is_whole = ${isWhole}
    where request_hash = ${requestHash} and is_whole is null and ends_at > ${now} returning is_whole`;
  return rows.length > 0;
}

/** What came of the last request that a browser began: `isWhole` is null until an answer counted; null when it began none. */
export async function findSentSamlLogout(
  sql: Connection,
  browserHash: Buffer,
  now: Date,
): Promise<{ isWhole: boolean | null } | null> {
  const [row] = await sql<{ isWhole: boolean | null }[]>`
    select is_whole as "isWhole" from sent_saml_logout
    where browser_hash = ${browserHash} and ends_at > ${now} order by ends_at desc limit 1`;
  return row ?? null;
}

/** Deletes what could not be shown or answered any more; returns how many. */
export async function deleteOldSamlLogouts(sql: Connection, now: Date): Promise<number> {
  const received = await sql`delete from received_saml_logout where ends_at <= ${now}`;
  const sent = await sql`delete from sent_saml_logout where ends_at <= ${now}`;
  return received.count + sent.count;
}
