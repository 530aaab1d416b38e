import type { Connection } from './database.ts';
import { deleteInParts } from './delete-in-parts.ts';
import { rowOrNull } from './row-or-null.ts';

/** A visitor sent to a provider and expected back. */
export type SsoRequestRow = {
  id: string;
  stateHash: Buffer;
  connectionId: string;
  /** SHA-256 of the token of the browser that began this visit; null if the provider began. */
  browserHash: Buffer | null;
  /** Sealed for `requestPlace`. */
  sealedDetails: Buffer;
  /** What the provider said, sealed for `requestPlace`, the token of the browser that brought it, and until when. */
  sealedAnswer: Buffer | null;
  answerHash: Buffer | null;
  answerEndsAt: Date | null;
  madeAt: Date;
  endsAt: Date;
  usedAt: Date | null;
};

/** Binding (additional data) for the details and the answer of a request. */
export function requestPlace(id: string): string {
  return `sso-request:${id}`;
}

/**
 * Stores a request; false if its connection is gone, or has another `answersVersion` than the one that was read. Locks the
 * connection, so that a change waits and ends this request too. Null: the answer is there already, and keeps its own.
 */
export async function insertSsoRequest(
  sql: Connection,
  request: Pick<
    SsoRequestRow,
    'id' | 'stateHash' | 'connectionId' | 'browserHash' | 'sealedDetails' | 'madeAt' | 'endsAt'
  > & { answersVersion: number | null },
): Promise<boolean> {
  const { id, stateHash, connectionId, answersVersion, browserHash, sealedDetails, madeAt, endsAt } = request;
  const rows = await sql`
    insert into sso_request (id, state_hash, connection_id, browser_hash, sealed_details, made_at, ends_at)
    select ${id}, ${stateHash}, c.id, ${browserHash}, ${sealedDetails}, ${madeAt}::timestamptz, ${endsAt}::timestamptz
    from sso_connection c where c.id = ${connectionId} and c.answers_version = coalesce(${answersVersion}::int, c.answers_version)
    for share
    returning id`;
  return rows.length > 0;
}

const columns = (sql: Connection) => sql`
  id, state_hash as "stateHash", connection_id as "connectionId", browser_hash as "browserHash", sealed_details as "sealedDetails",
  sealed_answer as "sealedAnswer", answer_hash as "answerHash", answer_ends_at as "answerEndsAt", made_at as "madeAt", ends_at as "endsAt", used_at as "usedAt"`;

/** What is kept after a connection was disabled would outlive it. */
const isConnectionActive = (sql: Connection) => sql`
  exists (select from sso_connection c where c.id = sso_request.connection_id and c.active)`;

/** A request by its id, of any browser, open or not; a browser learns nothing of it before it is identified. */
export async function findSsoRequest(sql: Connection, id: string) {
  return await rowOrNull(sql<SsoRequestRow[]>`select ${columns(sql)} from sso_request where id = ${id}`);
}

/** A request by its state: an answer without cookies is read before its browser is known. */
export async function findSsoRequestByState(sql: Connection, stateHash: Buffer) {
  return await rowOrNull(sql<SsoRequestRow[]>`select ${columns(sql)} from sso_request where state_hash = ${stateHash}`);
}

/**
 * Keeps what the provider said until the browser that brought it fetches it, with a token valid until `endsAt`; false
 * if there was an earlier answer. `answersVersion`: of the connection that it was read with.
 */
export async function updateSsoRequestAnswer(
  sql: Connection,
  id: string,
  answer: { sealedAnswer: Buffer; answerHash: Buffer; answersVersion: number; endsAt: Date },
): Promise<boolean> {
  const { sealedAnswer, answerHash, answersVersion, endsAt } = answer;
  const rows = await sql`
    update sso_request set sealed_answer = ${sealedAnswer}, answer_hash = ${answerHash}, answer_ends_at = ${endsAt},
      answers_version = ${answersVersion}
    where id = ${id} and sealed_answer is null and used_at is null and ${isConnectionActive(sql)} returning id`;
  return rows.length > 0;
}

/** What a browser shows of a visit: what it got when it began, and when it brought the answer; null if neither. */
export type ShownOfVisit = { stateHash: Buffer; browserHash: Buffer | null; answerHash: Buffer | null };

/**
 * Records which browser brings the answer, before it is read: until `endsAt` it is being read. Null if another browser
 * began, or if the answer was brought before. Of several concurrent requests one reads it, with the connection as it is
 * now or later: what ends in between does not count.
 */
export async function bringSsoAnswer(
  sql: Connection,
  { stateHash, browserHash, answerHash }: ShownOfVisit,
  { now, endsAt }: { now: Date; endsAt: Date },
) {
  return await rowOrNull(sql<SsoRequestRow[]>`
    update sso_request set answer_hash = ${answerHash}, answer_ends_at = ${endsAt},
      answers_version = (select c.answers_version from sso_connection c where c.id = sso_request.connection_id)
    where state_hash = ${stateHash} and browser_hash = ${browserHash}
      and answer_hash is null and used_at is null and ends_at > ${now}
    returning ${columns(sql)}`);
}

/** Keeps what was read of an answer that a browser brought, valid until `endsAt`. */
export async function keepBroughtAnswer(
  sql: Connection,
  id: string,
  { sealedAnswer, endsAt }: { sealedAnswer: Buffer; endsAt: Date },
): Promise<void> {
  await sql`
    update sso_request set sealed_answer = ${sealedAnswer}, answer_ends_at = ${endsAt}
    where id = ${id} and answer_hash is not null and sealed_answer is null and used_at is null`;
}

/**
 * Consumes an answered request, in the browser that both began it and brought the answer; null for another browser, an
 * expired answer, or a used one. Of several at once one gets it. `browserHash` is null if the provider began.
 */
export async function takeAnsweredSsoRequest(
  sql: Connection,
  { stateHash, browserHash, answerHash }: ShownOfVisit,
  now: Date,
) {
  return await rowOrNull(sql<SsoRequestRow[]>`
    update sso_request set used_at = ${now}
    where state_hash = ${stateHash} and browser_hash is not distinct from ${browserHash}
      and answer_hash = ${answerHash} and sealed_answer is not null and answer_ends_at > ${now}
      and used_at is null and ends_at > ${now}
    returning ${columns(sql)}`);
}

/**
 * Ends a request whose answer was brought by a browser other than the one that began it; false if it was the same one.
 * `answerHash` is that of the waiting answer, null if there is none: then the request itself brings it.
 */
export async function endSsoRequestOfOthers(
  sql: Connection,
  { stateHash, browserHash, answerHash }: ShownOfVisit,
  now: Date,
): Promise<boolean> {
  const rows = await sql`
    update sso_request set used_at = ${now}
    where state_hash = ${stateHash} and answer_hash is not distinct from ${answerHash}
      and browser_hash is distinct from ${browserHash} and used_at is null and ends_at > ${now}
    returning id`;
  return rows.length > 0;
}

/**
 * Ends everything that a connection's provider has said: answers that are being read or wait.
 * What is being read or decided at this moment is not stored yet, but counts no longer (`standingOfAnswerForShare`).
 * Visitors who are still at the provider return to the connection as it is then, unless `visitsToo`. Lock the connection
 * first.
 */
export async function endAnswersOfConnection(
  sql: Connection,
  connectionId: string,
  now: Date,
  { visitsToo = false } = {},
): Promise<void> {
  await sql`update sso_connection set answers_version = answers_version + 1 where id = ${connectionId}`;
  await sql`
    update sso_request set used_at = coalesce(used_at, ${now}), sealed_answer = null
    where connection_id = ${connectionId} and (${visitsToo} or answer_hash is not null)`;
}

/** Ends the visits of a browser in which somebody has signed out. One that is being decided then opens no session. */
export async function deleteVisitsOfBrowser(sql: Connection, browserHash: Buffer | null): Promise<void> {
  await sql`delete from sso_request where browser_hash = ${browserHash}`;
}

/**
 * Ends the other visits of a browser in which a visit has signed somebody in. One that is being decided opens no session; one
 * still at the provider is kept, used: its tab is led on to where it was going.
 */
export async function endOtherVisits(
  sql: Connection,
  { id, browserHash }: Pick<SsoRequestRow, 'id' | 'browserHash'>,
  now: Date,
): Promise<void> {
  await sql`delete from sso_request where browser_hash = ${browserHash} and used_at is not null and id <> ${id}`;
  await sql`update sso_request set used_at = ${now} where browser_hash = ${browserHash} and used_at is null`;
}

/** Deletes requests that expired before a time; returns how many. */
export async function deleteOldSsoRequests(sql: Connection, before: Date): Promise<number> {
  return await deleteInParts(sql, 'sso_request', sql`ends_at <= ${before}`);
}
