import type { Connection } from './database.ts';

/** A visitor sent to a provider and expected back. */
export type SsoRequestRow = {
  id: string;
  stateHash: Buffer;
  connectionId: string;
  /** SHA-256 of the token of the browser that began this visit; null if the provider began. */
  browserHash: Buffer | null;
  /** Sealed for `requestPlace`. */
  sealedDetails: Buffer;
  sealedAnswer: Buffer | null;
  madeAt: Date;
  endsAt: Date;
  usedAt: Date | null;
  /** What awaits the person's confirmation, sealed for `questionPlace`, whose it is, and until when. */
  sealedQuestion: Buffer | null;
  questionHash: Buffer | null;
  questionEndsAt: Date | null;
};

/** Binding (additional data) for the details and the answer of a request. */
export function requestPlace(id: string): string {
  return `sso-request:${id}`;
}

/** Binding (additional data) for a question. */
export function questionPlace(id: string): string {
  return `sso-question:${id}`;
}

export async function insertSsoRequest(
  sql: Connection,
  request: {
    id: string;
    stateHash: Buffer;
    connectionId: string;
    browserHash: Buffer | null;
    sealedDetails: Buffer;
    madeAt: Date;
    endsAt: Date;
  },
): Promise<void> {
  const { id, stateHash, connectionId, browserHash, sealedDetails, madeAt, endsAt } = request;
  await sql`
    insert into sso_request (id, state_hash, connection_id, browser_hash, sealed_details, made_at, ends_at)
    values (${id}, ${stateHash}, ${connectionId}, ${browserHash}, ${sealedDetails}, ${madeAt}, ${endsAt})`;
}

const columns = (sql: Connection) => sql`
  id, state_hash as "stateHash", connection_id as "connectionId", browser_hash as "browserHash", sealed_details as "sealedDetails",
  sealed_answer as "sealedAnswer", made_at as "madeAt", ends_at as "endsAt", used_at as "usedAt",
  sealed_question as "sealedQuestion", question_hash as "questionHash", question_ends_at as "questionEndsAt"`;

/** A request by its id, whoever began it, open or not; the browser learns nothing of it before it is identified. */
export async function findSsoRequest(sql: Connection, id: string): Promise<SsoRequestRow | null> {
  const [row] = await sql<SsoRequestRow[]>`select ${columns(sql)} from sso_request where id = ${id}`;
  return row ?? null;
}

/** The open requests begun by browsers with these tokens. */
export async function listOpenSsoRequests(
  sql: Connection,
  browserHashes: readonly Buffer[],
  now: Date,
): Promise<SsoRequestRow[]> {
  return await sql<SsoRequestRow[]>`
    select ${columns(sql)} from sso_request
    where browser_hash in (select decode(hash, 'hex') from unnest(${browserHashes.map((hash) => hash.toString('hex'))}::text[]) as t (hash))
      and used_at is null and ends_at > ${now}`;
}

/** The same by its state: an answer without cookies is read before its browser is known. */
export async function findSsoRequestByState(sql: Connection, stateHash: Buffer): Promise<SsoRequestRow | null> {
  const [row] = await sql<SsoRequestRow[]>`select ${columns(sql)} from sso_request where state_hash = ${stateHash}`;
  return row ?? null;
}

/**
 * Keeps what the provider said until the browser that brought it fetches it, with a token valid until `endsAt`; false
 * if there was an earlier answer.
 */
export async function updateSsoRequestAnswer(
  sql: Connection,
  id: string,
  { sealedAnswer, answerHash, endsAt }: { sealedAnswer: Buffer; answerHash: Buffer; endsAt: Date },
): Promise<boolean> {
  const rows = await sql`
    update sso_request set sealed_answer = ${sealedAnswer}, answer_hash = ${answerHash}, answer_ends_at = ${endsAt}
    where id = ${id} and sealed_answer is null and used_at is null returning id`;
  return rows.length > 0;
}

/** What a browser has to show of a visit: what it got when it began, and when it brought the answer. */
type AnsweredVisit = { stateHash: Buffer; browserHash: Buffer | null; answerHash: Buffer };

/**
 * Consumes an answered request, in the browser that both began it and brought the answer; null for another browser, an
 * expired answer, or a used one. Of several at once one gets it. `browserHash` is null if the provider began.
 */
export async function takeAnsweredSsoRequest(
  sql: Connection,
  { stateHash, browserHash, answerHash }: AnsweredVisit,
  now: Date,
): Promise<SsoRequestRow | null> {
  const [row] = await sql<SsoRequestRow[]>`
    update sso_request set used_at = ${now}
    where state_hash = ${stateHash} and browser_hash is not distinct from ${browserHash}
      and answer_hash = ${answerHash} and answer_ends_at > ${now} and used_at is null and ends_at > ${now}
    returning ${columns(sql)}`;
  return row ?? null;
}

/**
 * Ends a request whose answer was brought by another browser than began it; false if that is not so. `answerHash` is
 * that of the waiting answer, null if there is none: then the request itself brings it.
 */
export async function endSsoRequestOfOthers(
  sql: Connection,
  { stateHash, browserHash, answerHash }: Omit<AnsweredVisit, 'answerHash'> & { answerHash: Buffer | null },
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
 * Consumes a request in the browser that began it and brings the answer itself; null if there is none, it has expired,
 * or it was used. Of several at once one gets it.
 */
export async function takeSsoRequest(
  sql: Connection,
  stateHash: Buffer,
  browserHash: Buffer,
  now: Date,
): Promise<SsoRequestRow | null> {
  const [row] = await sql<SsoRequestRow[]>`
    update sso_request set used_at = ${now}
    where state_hash = ${stateHash} and browser_hash = ${browserHash} and used_at is null and ends_at > ${now}
    returning ${columns(sql)}`;
  return row ?? null;
}

/** Keeps the answer of a used request until the browser with this token confirms it. */
export async function putQuestion(
  sql: Connection,
  id: string,
  { sealedQuestion, questionHash, endsAt }: { sealedQuestion: Buffer; questionHash: Buffer; endsAt: Date },
): Promise<void> {
  await sql`
    update sso_request
    set sealed_question = ${sealedQuestion}, question_hash = ${questionHash}, question_ends_at = ${endsAt}
    where id = ${id}`;
}

/**
 * Takes a question in the browser that was asked; null if there is none, or it has expired. Of several at once one gets
 * it.
 */
export async function takeQuestion(
  sql: Connection,
  id: string,
  questionHash: Buffer,
  now: Date,
): Promise<SsoRequestRow | null> {
  const [row] = await sql<SsoRequestRow[]>`
    update sso_request set question_ends_at = ${now}
    where id = ${id} and question_hash = ${questionHash} and question_ends_at > ${now}
    returning ${columns(sql)}`;
  return row ?? null;
}

/** Deletes requests that expired before a time; returns how many. */
export async function deleteOldSsoRequests(sql: Connection, before: Date): Promise<number> {
  return (await sql`delete from sso_request where ends_at <= ${before}`).count;
}
