import type { Connection, Fragment } from '../database/database.ts';
import type { AuditEvent, AuditStep } from './audit-events.ts';
import { referenceOfRequest, requestIdStart } from './reference.ts';

export type AuditEventRow = {
  id: number;
  at: Date;
  event: string;
  reason: string | null;
  reference: string | null;
  userId: string | null;
  username: string | null;
  customerKey: string | null;
  connection: string | null;
  address: string | null;
  browser: string | null;
  requestId: string | null;
  steps: AuditStep[];
  actor: string | null;
};

/** Kinds of events, by their conditions; `acts`: what somebody did who is not the person themselves, at the desk or by a command. */
const kinds = {
  signIns: "event = 'signed-in'",
  refusals: "event ~ '(refused|throttled|second-factor-ended)$'",
  acts: "actor is distinct from 'user:' || username and actor is not null",
};
export const eventKinds = Object.keys(kinds) as (keyof typeof kinds)[];

/** A filter: all given conditions must hold. An index is for `userId`, `reference` and `customerKeys`. `limit`: of rows, newest first. */
export type AuditFilter = {
  userId?: string;
  username?: string;
  /** With `userId` also that of a request, as a page shows it: no index has it. */
  reference?: string;
  /** Events of any of these. */
  customerKeys?: readonly string[];
  /** Sign-ins, and events that are of no other customers than these, nor older: a removed customer's key may be given anew. */
  aloneOf?: readonly string[];
  event?: string;
  kind?: keyof typeof kinds;
  since?: Date;
  /** Not any more. */
  until?: Date;
  /** Events with a smaller id. */
  before?: number;
  limit: number;
};

/** Records an event. Its type allows no other property: what has no column would be lost. */
export async function insertAuditEvent<T extends AuditEvent>(
  sql: Connection,
  event: T & Record<Exclude<keyof T, keyof AuditEvent>, never>,
  now: Date,
): Promise<void> {
  await sql`insert into audit_event ${rowOf(sql, event, now)}`;
}

function rowOf(sql: Connection, event: AuditEvent, now: Date) {
  const { userId, username, customerKey, connection, connectionId, address, browser, requestId, steps, actor } = event;
  return sql`
    (at, event, reason, reference, user_id, username, customer_key, connection, address, browser, request_id, steps,
      actor)
    select ${now}, ${event.event}, ${event.reason ?? null}, ${event.reference ?? null}, ${userId ?? null}::uuid,
      ${username ?? null}, ${customerKey ?? null},
      coalesce(${connection ?? null}, (select key from sso_connection where id = ${connectionId ?? null}::uuid)),
      ${address || null}::inet, ${browser ?? null}, ${requestId ?? null}, ${JSON.stringify(steps ?? [])}::jsonb, ${actor ?? null}`;
}

const columns = (sql: Connection) => sql`
  id, at, event, reason, reference, user_id as "userId", username, customer_key as "customerKey", connection,
  host(address) as address, browser, request_id as "requestId", steps, actor`;

/** The newest matching events, newest first. */
export async function listAuditEvents(sql: Connection, filter: AuditFilter): Promise<AuditEventRow[]> {
  const { userId, username, reference, customerKeys, aloneOf, event, kind, since, until, before, limit } = filter;
  const idStart = userId && reference ? requestIdStart(reference) : null;
  // Only the conditions that are asked for, so that an index is used where there is one.
  const newest = (ofCustomers: Fragment) => sql`
    select ${columns(sql)} from audit_event
    where true ${ofCustomers}
      ${userId === undefined ? sql`` : sql`and user_id = ${userId}`}
      ${username === undefined ? sql`` : sql`and lower(username) = lower(${username})`}
      ${reference === undefined ? sql`` : sql`and (reference = ${reference} ${idStart ? sql`or starts_with(request_id, ${idStart})` : sql``})`}
      ${aloneOf === undefined ? sql`` : sql`and exists (select from customer c where c.key = any(string_to_array(customer_key, ', ')) and c.created_at <= at)`}
      ${aloneOf === undefined ? sql`` : sql`and (event ~ '^(signed-|sign-in-|sso-)' or string_to_array(customer_key, ', ') <@ ${aloneOf}::text[] and is_desks_alone(user_id))`}
      ${event === undefined ? sql`` : sql`and event = ${event}`}
      ${kind === undefined ? sql`` : sql`and ${sql.unsafe(kinds[kind])}`}
      ${since === undefined ? sql`` : sql`and at >= ${since}`}
      ${until === undefined ? sql`` : sql`and at < ${until}`}
      ${before === undefined ? sql`` : sql`and id < ${before}`}
    order by id desc limit ${limit}`;
  if (customerKeys === undefined) return await sql<AuditEventRow[]>`${newest(sql``)}`;
  const isTheirs = sql`and string_to_array(customer_key, ', ') && ${customerKeys}::text[]`;
  if (userId !== undefined || reference !== undefined) return await sql<AuditEventRow[]>`${newest(isTheirs)}`;
  // Each customer's by an index, and the few events of several customers by theirs.
  const each = customerKeys.map((key) => newest(sql`and customer_key = ${key}`));
  const all = [...each, newest(sql`and customer_key like '%, %' ${isTheirs}`)].map((one) => sql`(${one})`);
  const found = all.reduce((before, one) => sql`${before} union all ${one}`);
  return await sql<AuditEventRow[]>`select * from (${found}) as found order by id desc limit ${limit}`;
}

/** Names the newest act on a user or customer, so that who acts next can be told of one that they have not seen. */
export async function newestActOn(sql: Connection, on: { userId: string } | { customerKey: string }): Promise<string> {
  const which =
    'userId' in on
      ? sql`user_id = ${on.userId} and actor is not null`
      : sql`customer_key = ${on.customerKey} and event = 'customer-changed'`;
  const [row] = await sql`select id from audit_event where ${which} order by id desc limit 1`;
  return String(row?.id ?? '');
}

/** The events of requests whose id begins so, oldest first; without an index, since it is seldom asked. */
export async function listAuditEventsByRequest(sql: Connection, idStart: string): Promise<AuditEventRow[]> {
  return await sql<AuditEventRow[]>`
    select ${columns(sql)} from audit_event where starts_with(request_id, ${idStart}) order by id`;
}

/**
 * Records an event at most once a minute under a key, so that a flood cannot fill the table. Returns the reference of
 * the request that is recorded: this one, or the one within the minute before.
 */
export async function insertEventOnceAMinute(
  sql: Connection,
  event: AuditEvent & { requestId: string },
  under: string,
  now: Date,
): Promise<string> {
  const key = `recorded:${under}`;
  // In the column of a guess: what tells the recorded request from all others.
  const mark = Buffer.from(event.requestId.replaceAll('-', '').slice(0, 16), 'hex');
  const { count } = await sql`
    insert into audit_event ${rowOf(sql, event, now)}
    where throttle_attempt(${key}, ${mark}, ${now}, row(1, 60, 60, 60)::throttle_limit)`;
  if (count > 0) return referenceOfRequest(event.requestId);
  const [row] = await sql<
    { lastGuess: Buffer | null }[]
  >`select last_guess as "lastGuess" from throttle where key = ${key}`;
  return referenceOfRequest((row?.lastGuess ?? mark).toString('hex'));
}
