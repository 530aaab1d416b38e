import { createServer } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cuttableDatabase } from '#testing/cuttable-database.ts';
import { type DatabaseForTest, databaseForTest } from '#testing/database-for-test.ts';
import { connect, isConnectionGone, isDatabaseAway } from './connect.ts';
import type { Place } from './database.ts';

let database: DatabaseForTest;
beforeAll(async () => {
  database = await databaseForTest();
});
afterAll(() => database.close());

async function errorOf(
  place: Place,
  statement: (sql: ReturnType<typeof connect>) => PromiseLike<unknown>,
): Promise<unknown> {
  const sql = connect(place, { poolSize: 1, statementTimeout: 100 });
  try {
    await statement(sql);
    return null;
  } catch (error) {
    return error;
  } finally {
    await sql.end({ timeout: 1 });
  }
}

test('values have the types that the code expects', async () => {
  const at = new Date('2026-03-01T10:00:00.123Z');
  const [row] = await database.sql`
    select count(*) as count, ${at}::timestamptz as at, '{203.0.113.0/24}'::cidr[] as networks, host('2001:db8::1'::inet) as host,
      ${database.sql.json([{ step: 'a' }])}::jsonb as steps, ${9_007_199_254_740_991}::bigint as big, 0.5::float8 as half
    from generate_series(1, 3)`;
  expect(row).toEqual({
    count: 3,
    at,
    networks: ['203.0.113.0/24'],
    host: '2001:db8::1',
    steps: [{ step: 'a' }],
    big: Number.MAX_SAFE_INTEGER,
    half: 0.5,
  });
});

test('undefined is an error before anything is sent', async () => {
  const nothing: { value?: string } = {};
  await expect(database.sql`select ${nothing.value as string} as value`).rejects.toThrow('UNDEFINED_VALUE');
});

test('a statement that takes too long ends, and counts as the database being down', async () => {
  const error = await errorOf(database.place, (sql) => sql`select pg_sleep(5)`);
  expect(error).toMatchObject({ code: '57014' });
  expect(isDatabaseAway(error)).toBe(true);
});

test('no listener, a wrong socket and a server that hangs up count as the database being down', async () => {
  const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  const url = `postgres://user:password@127.0.0.1:${port}/name`;
  const hungUp = await errorOf({ url }, (sql) =>
    Promise.race([sql`select 1`, sql.end({ timeout: 1 }).then(() => sql`select 1`)]),
  );
  expect(isDatabaseAway(hungUp)).toBe(true);
  await new Promise((resolve) => server.close(resolve));
  expect(isDatabaseAway(await errorOf({ url }, (sql) => sql`select 1`))).toBe(true);
  const nowhere = { path: '/nowhere/.s.PGSQL.5432', database: 'a', user: 'b', password: 'c' };
  expect(isDatabaseAway(await errorOf(nowhere, (sql) => sql`select 1`))).toBe(true);
});

test('a session ended by the server counts as the database being down, and the pool recovers', async () => {
  const sql = connect(database.place, { poolSize: 1 });
  const ended = await sql`select pg_terminate_backend(pg_backend_pid())`.then(
    () => null,
    (error: unknown) => error,
  );
  expect(isDatabaseAway(ended)).toBe(true);
  await expect.poll(() => sql`select 1 as one`, { timeout: 1000 }).toEqual([{ one: 1 }]);
  await sql.end({ timeout: 1 });
});

test('a connection cut during transactions fails them, ends no process, and is reopened', async () => {
  const way = await cuttableDatabase(database);
  const uncaught: unknown[] = [];
  // As in main.ts: what postgres.js queries by itself on a new connection fails where nobody awaits it.
  const ending = {
    uncaughtException: (error: unknown) => void uncaught.push(error),
    unhandledRejection: (error: unknown) => void (isDatabaseAway(error) || uncaught.push(error)),
  };
  // Vitest's own listeners would end the run before the count is checked.
  const giveBack = Object.entries(ending).map(([event, keep]) => {
    const listeners = process.listeners(event as 'uncaughtException');
    process.removeAllListeners(event).on(event, keep);
    return () => {
      process.removeAllListeners(event);
      for (const listener of listeners) process.on(event, listener);
    };
  });
  for (let round = 0; round < 10; round += 1) {
    const transactions = Array.from({ length: 5 }, () =>
      way.sql.begin(async (sql) => {
        await sql`select 1`;
        way.cut();
        await sql`select pg_sleep(0.01)`;
      }),
    );
    for (const { status, reason } of (await Promise.allSettled(transactions)) as PromiseRejectedResult[]) {
      expect(status).toBe('rejected');
      expect(isDatabaseAway(reason)).toBe(true);
    }
    way.mend();
    await expect.poll(() => way.sql`select 1 as one`.catch(() => null), { timeout: 5000 }).toEqual([{ one: 1 }]);
  }
  await way.close();
  for (const back of giveBack) back();
  expect(uncaught).toEqual([]);
});

test.each([
  ...['ECONNRESET', 'ETIMEDOUT', 'EHOSTUNREACH', 'EPIPE', 'CONNECTION_CLOSED', '57P01'].map(
    (code) => [code, true] as const,
  ),
  ...['57014', '53100', '23505', 'UNDEFINED_VALUE', undefined].map((code) => [code, false] as const),
])('after %s the connection is gone: %s', (code, isGone) => {
  expect(isConnectionGone(Object.assign(new Error(), { code }))).toBe(isGone);
});

test.each([
  ['53300', true],
  ['53100', true],
  ['57P03', true],
  ['08006', true],
  ['25006', true],
  ['23505', false],
  ['42601', false],
  ['22021', false],
  ['28P01', false],
  ['UNDEFINED_VALUE', false],
])('the code %s: down is %s', (code, away) => {
  expect(isDatabaseAway(Object.assign(new Error('x'), { code }))).toBe(away);
});

test('a missing file is a bug, a missing socket is not', () => {
  expect(isDatabaseAway(Object.assign(new Error('x'), { code: 'ENOENT', syscall: 'open' }))).toBe(false);
  expect(isDatabaseAway(Object.assign(new Error('x'), { code: 'ENOENT', syscall: 'connect' }))).toBe(true);
  expect(isDatabaseAway('text')).toBe(false);
  expect(isDatabaseAway(null)).toBe(false);
});
