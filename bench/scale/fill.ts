import { hashPassword } from '#server/crypto/password-hash.ts';
import type { Database } from '#server/database/database.ts';
import { password } from '../people.ts';

export type Size = { users: number; sessions: number; events: number };

/** A statement inserts so many rows. */
const atOnce = 250_000;

/**
 * Fills the empty tables with users of ten customers, their sessions, and events of the last 90 days. `sql`: one connection
 * without a limit of time. Every column that it names is as old as its table, so that it can fill earlier versions.
 */
export async function fill(sql: Database, { users, sessions, events }: Size): Promise<void> {
  await sql`
    insert into customer (key, name, created_at)
    select 'customer-' || n, 'Customer ' || n, now() from generate_series(0, 9) n`;
  const hash = await hashPassword(password, null);
  await sql`set synchronous_commit to off`;
  await sql`set maintenance_work_mem to '256MB'`;
  await inParts(users, (from, to) => addUsers(sql, { from, to, hash }));
  await inParts(sessions, (from, to) => addSessions(sql, { from, to, users }));
  // In its place, one row after the other, each would go to another page.
  const indexes = await sql<{ name: string; words: string }[]>`
    select indexname as name, indexdef as words from pg_indexes
    where tablename = 'audit_event' and indexname <> 'audit_event_pkey'`;
  for (const { name } of indexes) await sql`drop index ${sql(name)}`;
  await inParts(events, (from, to) => addEvents(sql, { from, to, users, events }));
  for (const { words } of indexes) await sql.unsafe(words);
  await sql`vacuum analyze`;
  await sql`checkpoint`;
}

async function inParts(count: number, work: (from: number, to: number) => Promise<void>): Promise<void> {
  for (let from = 0; from < count; from += atOnce) await work(from, Math.min(count, from + atOnce) - 1);
}

type Part = { from: number; to: number };

async function addUsers(sql: Database, { from, to, hash }: Part & { hash: string }): Promise<void> {
  await sql`
    with made as (
      insert into portal_user (username, email, password_hash, created_at)
      select 'user-' || n, 'user-' || n || '@acme.test', ${hash}, now() from generate_series(${from}::int, ${to}::int) n
      returning id, username, email
    ), named as (
      insert into login_name select name, id from made, unnest(array[username, email]) as name
    )
    insert into membership
    select made.id, customer.id from made join customer on key = 'customer-' || right(username, 1)`;
}

async function addSessions(sql: Database, { from, to, users }: Part & { users: number }): Promise<void> {
  await sql`
    insert into session (token_hash, user_id, stage, customer_ids, address, created_at, last_seen_at, ends_at)
    select sha256(convert_to(lpad(n::text, 43, 's'), 'utf8')), u.id, 'full', array[m.customer_id], '127.0.0.1', now(), now(),
      now() + interval '12 hours'
    from generate_series(${from}::int, ${to}::int) n
    join login_name on fold = 'user-' || n % ${users}::int
    join portal_user u on u.id = user_id join membership m on m.user_id = u.id`;
}

async function addEvents(
  sql: Database,
  { from, to, users, events }: Part & { users: number; events: number },
): Promise<void> {
  await sql`
    insert into audit_event (at, event, reference, user_id, username, address, request_id, steps)
    select now() - interval '90 days' * (1 - n::float8 / ${events}::int), 'signed-in',
      case when n % 10 = 0 then left(lpad(n::text, 8, '0'), 4) || '-' || right(lpad(n::text, 8, '0'), 4) end,
      user_id, fold, '127.0.0.1', gen_random_uuid()::text,
      '[{"step": "account", "outcome": "found"}, {"step": "password", "outcome": "right"}]'
    from generate_series(${from}::int, ${to}::int) n join login_name on fold = 'user-' || n % ${users}::int`;
}
