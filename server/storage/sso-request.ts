import type { Connection } from './connect.ts';

/** A visitor who was sent to a provider and is expected back. */
export type SsoRequestRow = {
  id: string;
  connectionId: string;
  /** Sealed for `requestPlace`. */
  sealedDetails: Buffer;
  sealedAnswer: Buffer | null;
  madeAt: Date;
  endsAt: Date;
  usedAt: Date | null;
};

/** Where the details and the answer of a request are sealed for. */
export function requestPlace(id: string): string {
  return `sso-request:${id}`;
}

export async function insertSsoRequest(
  sql: Connection,
  request: {
    id: string;
    stateHash: Buffer;
    connectionId: string;
    browserHash: Buffer | null;
    sealedDetails: Buffer;
    sealedAnswer?: Buffer;
    madeAt: Date;
    endsAt: Date;
  },
): Promise<void> {
  const { id, stateHash, connectionId, browserHash, sealedDetails, sealedAnswer, madeAt, endsAt } = request;
  await sql`
    insert into sso_request (id, state_hash, connection_id, browser_hash, sealed_details, sealed_answer, made_at, ends_at)
    values (${id}, ${stateHash}, ${connectionId}, ${browserHash}, ${sealedDetails}, ${sealedAnswer ?? null}, ${madeAt}, ${endsAt})`;
}

const columns = (sql: Connection) => sql`
  id, connection_id as "connectionId", sealed_details as "sealedDetails", sealed_answer as "sealedAnswer", made_at as "madeAt",
  ends_at as "endsAt", used_at as "usedAt"`;

/** A request of a browser by its id, over or not, for the page that leads to the provider; or null. */
export async function findSsoRequestOfBrowser(
  sql: Connection,
  id: string,
  browserHash: Buffer,
): Promise<SsoRequestRow | null> {
  const [row] = await sql<SsoRequestRow[]>`
    select ${columns(sql)} from sso_request where id = ${id} and browser_hash = ${browserHash}`;
  return row ?? null;
}

/** An open request by its state, whoever began it: an answer that comes without cookies is looked at before its browser is. */
export async function findSsoRequestByState(
  sql: Connection,
  stateHash: Buffer,
  now: Date,
): Promise<SsoRequestRow | null> {
  const [row] = await sql<SsoRequestRow[]>`
    select ${columns(sql)} from sso_request where state_hash = ${stateHash} and used_at is null and ends_at > ${now}`;
  return row ?? null;
}

/** Keeps what the provider said until its browser comes for it; false when an answer came before. */
export async function updateSsoRequestAnswer(sql: Connection, id: string, sealedAnswer: Buffer): Promise<boolean> {
  const rows = await sql`
    update sso_request set sealed_answer = ${sealedAnswer}
    where id = ${id} and sealed_answer is null and used_at is null returning id`;
  return rows.length > 0;
}

/**
 * Uses a request up, in the browser that began it; null when there is none, it is over, or it was used. Of several at
 * once one gets it.
 */
export async function takeSsoRequest(
  sql: Connection,
  stateHash: Buffer,
  browserHash: Buffer | null,
  now: Date,
): Promise<SsoRequestRow | null> {
  const [row] = await sql<SsoRequestRow[]>`
    update sso_request set used_at = ${now}
    where state_hash = ${stateHash} and browser_hash is not distinct from ${browserHash}
      and used_at is null and ends_at > ${now}
    returning ${columns(sql)}`;
  return row ?? null;
}

/** A request of this browser that is over, or was used up already; null when there never was one, or long ago. */
export async function findPastSsoRequest(
  sql: Connection,
  stateHash: Buffer,
  browserHash: Buffer,
): Promise<SsoRequestRow | null> {
  const [row] = await sql<SsoRequestRow[]>`
    select ${columns(sql)} from sso_request
    where state_hash = ${stateHash} and browser_hash = ${browserHash}`;
  return row ?? null;
}

/** Deletes requests that were over at a time; returns how many. */
export async function deleteOldSsoRequests(sql: Connection, before: Date): Promise<number> {
  return (await sql`delete from sso_request where ends_at <= ${before}`).count;
}
