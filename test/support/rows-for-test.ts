import { expect, onTestFinished, vi } from 'vitest';
import type { Connection, Database } from '#server/database/database.ts';
import { limitOf } from '#server/throttle/throttle.ts';
import type { ThrottleKey } from '#server/throttle/throttle-keys.ts';
import type { PortalForTest } from './portal-for-test.ts';

// With the rows that reference these. Sessions precede what their deletion writes.
const everyTable = [
  ...['customer', 'portal_user', 'session'],
  ...['pending_totp', 'email_code', 'reset_link', 'device', 'throttle', 'job', 'audit_event'],
];

/** Deletes everything except the portal's own keys. */
export async function emptyDatabase(on: { sql: Database }): Promise<void> {
  await emptyTables(on, ...everyTable);
}

/** Deletes all rows of these tables, and those that reference them. */
export async function emptyTables({ sql }: { sql: Database }, ...tables: string[]): Promise<void> {
  // For a few rows this is twenty times as fast as truncate.
  await sql.unsafe(tables.map((table) => `delete from ${table};`).join(''));
}

/** Keeps rows locked, as a transaction that is slow does, until `release` or the end of the test. */
export async function holdRows(pool: Database, lock: (sql: Connection) => PromiseLike<unknown>) {
  const [begun, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const holding = pool.begin(async (sql) => {
    await lock(sql);
    begun.resolve();
    await over.promise;
  });
  await Promise.race([begun.promise, holding]);
  const release = async () => {
    over.resolve();
    await holding;
  };
  onTestFinished(release);
  return release;
}

/** Waits until so many connections wait for a row that another one has locked. */
export async function untilWaiting(pool: Database, count: number): Promise<void> {
  const enough = async () => {
    const waiting = await pool`
      select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
    expect(waiting.length).toBeGreaterThanOrEqual(count);
  };
  await vi.waitFor(enough, { timeout: 5000, interval: 10 });
}

/** Counts one attempt under a key; false if it has to wait. */
export async function countThrottleAttempt(sql: Connection, { key, limit }: ThrottleKey, now: Date): Promise<boolean> {
  const [row] = await sql<{ admitted: boolean }[]>`
    select throttle_attempt(${key}, null, ${now}, ${limitOf(sql, limit)}) as admitted`;
  return row?.admitted ?? false;
}

/** Fails if one of the secrets appears in the logs or in any table of a portal, in any encoding. */
export async function expectNowhere(portal: PortalForTest, secrets: string[]): Promise<void> {
  const [logs, database] = [portal.logs(), await everyRow(portal)];
  expect(logs.length).toBeGreaterThan(1000);
  expect(database.length).toBeGreaterThan(1000);
  for (const form of secrets.flatMap(formsOf)) {
    expect(logs.includes(form), `${form} in the logs`).toBe(false);
    expect(database.includes(form), `${form} in the database`).toBe(false);
  }
}

/** The encodings of a secret: plain, escaped, base64 and hexadecimal; for a token its bytes as well. */
function formsOf(secret: string): string[] {
  const written = Buffer.from(secret);
  return [
    secret,
    encodeURIComponent(secret),
    written.toString('base64').replace(/=+$/, ''),
    written.toString('base64url'),
    written.toString('hex'),
    ...(/^[\w-]{43}$/.test(secret) ? bytesOf(Buffer.from(secret, 'base64url')) : []),
  ];
}

function bytesOf(token: Buffer): string[] {
  return [token.toString('hex'), token.toString('base64').replace(/=+$/, '')];
}

/** The whole content of the database, as text. */
export async function everyRow({ sql }: PortalForTest): Promise<string> {
  const tables = await sql<{ name: string }[]>`
    select quote_ident(table_name) as name from information_schema.tables where table_schema = 'public'`;
  return JSON.stringify(
    await Promise.all(tables.map(({ name }) => sql.unsafe(`select t::text from ${name} t order by 1`))),
  );
}

const changing = [
  ...['totp', 'pending_totp', 'email_factor', 'email_code', 'recovery_code', 'shown_recovery_codes', 'session'],
  ...['remembered_device', 'device', 'job', 'audit_event', 'throttle'],
];

/** Every row that a second factor changes; attempt counts only on request. */
export async function stateOf({ sql }: PortalForTest, withTries = false): Promise<unknown> {
  const tables = changing.filter((table) => withTries || table !== 'throttle');
  const left = withTries ? ['last_seen_at'] : ['last_seen_at', 'code_tries'];
  const rows = await Promise.all(
    tables.map((table) => sql`select to_jsonb(t) - ${left}::text[] as row from ${sql(table)} t order by t::text`),
  );
  return rows.map((row, at) => [tables[at], ...row]);
}

/** Makes a write fail during `work`, as a full disk does; `timing` is that of a trigger. */
export async function withFault({ sql }: PortalForTest, timing: string, work: () => Promise<void>): Promise<void> {
  const table = /on (\w+)/.exec(timing)?.[1];
  await sql.unsafe(`
    create function fault() returns trigger language plpgsql as $$
    begin raise exception 'injected' using errcode = '53100'; end $$;
    create ${timing.startsWith('after') ? 'constraint' : ''} trigger fault ${timing} execute function fault()`);
  try {
    await work();
  } finally {
    await sql.unsafe(`drop trigger fault on ${table}; drop function fault()`);
  }
}

/** The timing of a fault at the commit of an insert into a table. */
export function atCommit(table: string): string {
  return `after insert on ${table} deferrable initially deferred for each row`;
}
