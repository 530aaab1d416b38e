import type { Connection } from './database.ts';
import { deleteInParts } from './delete-in-parts.ts';
import { rowOrNull } from './row-or-null.ts';

/** Records that a provider's request was accepted; false if it already was. Concurrent calls get true once. */
export async function insertReceivedSamlLogout(
  sql: Connection,
  { connectionId, requestHash, endsAt }: { connectionId: string; requestHash: Buffer; endsAt: Date },
): Promise<boolean> {
  const rows = await sql`
    insert into received_saml_logout (connection_id, request_hash, ends_at)
    values (${connectionId}, ${requestHash}, ${endsAt}) on conflict do nothing returning ends_at`;
  return rows.length > 0;
}

/** Keeps what the provider's answer to our request must match. */
export async function insertSentSamlLogout(
  sql: Connection,
  sent: { requestHash: Buffer; connectionId: string; browserHash: Buffer; endsAt: Date },
): Promise<void> {
  const { requestHash, connectionId, browserHash, endsAt } = sent;
  await sql`
    insert into sent_saml_logout (request_hash, connection_id, browser_hash, ends_at)
    values (${requestHash}, ${connectionId}, ${browserHash}, ${endsAt})`;
}

/** The connection of an open request of ours, from any browser; null if it is answered or expired. */
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

/** Records the provider's answer; false if it had answered before. Concurrent calls get true once. */
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

/** The outcome of a browser's last request: `isWhole` is null until an answer counted; null if it made none. */
export async function findSentSamlLogout(sql: Connection, browserHash: Buffer, now: Date) {
  return await rowOrNull(sql<{ isWhole: boolean | null }[]>`
    select is_whole as "isWhole" from sent_saml_logout
    where browser_hash = ${browserHash} and ends_at > ${now} order by ends_at desc limit 1`);
}

/** Deletes requests that have expired; returns how many. */
export async function deleteOldSamlLogouts(sql: Connection, now: Date): Promise<number> {
  const received = await deleteInParts(sql, 'received_saml_logout', sql`ends_at <= ${now}`);
  return received + (await deleteInParts(sql, 'sent_saml_logout', sql`ends_at <= ${now}`));
}
