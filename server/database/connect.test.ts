import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cuttableDatabase } from '#test/support/cuttable-database.ts';
import { type DatabaseForTest, databaseForTest } from '#test/support/database-for-test.ts';
import { connect, isDatabaseAway } from './connect.ts';
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
    await sql.end();
  }
}

test('values have the types that the code expects, both ways', async () => {
  const at = new Date('2026-03-01T10:00:00.123Z');
  const bytes = Buffer.from([0, 92, 39, 255]);
  const texts = ['a', '', 'NULL', 'c,"d"\\', '{ü}', '日本'];
  const steps = [{ step: `it's "a" \\ 日本` }];
  const [row] = await database.sql`
    select count(*) as count, ${at}::timestamptz as at, '{203.0.113.0/24}'::cidr[] as networks, host('2001:db8::1'::inet) as host,
      ${JSON.stringify(steps)}::jsonb as steps, ${9_007_199_254_740_991}::bigint as big, 0.5::float8 as half,
      ${bytes}::bytea as bytes, ${[bytes, Buffer.of()]}::bytea[] as "moreBytes", ${texts}::text[] as texts,
      ${[1, 2]}::bigint[] = '{1,2}' as numbers, ${null}::text as nothing, ${true}::boolean as yes,
      '192.0.2.1/32'::inet as address
    from generate_series(1, 3)`;
  expect(row).toEqual({
    count: 3,
    at,
    networks: ['203.0.113.0/24'],
    host: '2001:db8::1',
    steps,
    big: Number.MAX_SAFE_INTEGER,
    half: 0.5,
    bytes,
    moreBytes: [bytes, Buffer.of()],
    texts,
    numbers: true,
    nothing: null,
    yes: true,
    address: '192.0.2.1',
  });
});

test('a statement in another one becomes a part of that, with its values, names and texts', async () => {
  const { sql } = database;
  const part = sql`n > ${1} and ${sql.unsafe('n < 4')}`;
  const rows =
    await sql`select ${sql('n')} as "of""it" from generate_series(0, ${9}::int) n where ${part} order by ${sql('n')}`;
  expect(rows).toEqual([{ 'of"it': 2 }, { 'of"it': 3 }]);
  expect(rows.count).toBe(2);
  expect((await sql`select from ${sql('x"; drop table mail; --')}`.catch((error) => error)).code).toBe('42P01');
});

test('no listener, a wrong socket, a server that hangs up and a silent one count as the database being down', async () => {
  const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const url = `postgres://user:password@127.0.0.1:${port}/name`;
  expect(isDatabaseAway(await errorOf({ url }, (sql) => sql`select 1`))).toBe(true);
  server.close();
  await once(server, 'close');
  expect(isDatabaseAway(await errorOf({ url }, (sql) => sql`select 1`))).toBe(true);
  const nowhere = { path: '/nowhere/.s.PGSQL.5432', database: 'a', user: 'b', password: 'c' };
  expect(isDatabaseAway(await errorOf(nowhere, (sql) => sql`select 1`))).toBe(true);
});

test('of a server that falls silent nobody waits much longer than a statement may take', async () => {
  const wire = await cuttableDatabase(database);
  const sql = connect({ url: wire.url }, { poolSize: 1, statementTimeout: 100 });
  await sql`select 1`;
  wire.silence();
  expect(isDatabaseAway(await sql`select 1`.catch((error) => error))).toBe(true);
  expect(await sql`select 1 as one`).toEqual([{ one: 1 }]);
  await sql.end();
  await wire.close();
});

test('a connection cut during transactions fails them, ends no process, and is reopened', async () => {
  const way = await cuttableDatabase(database);
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
    expect(await way.sql`select 1 as one`).toEqual([{ one: 1 }]);
  }
  await way.close();
});

test.each([
  ['53300', true],
  ['08006', true],
  ['25006', true],
  ['23505', false],
  ['28P01', false],
])('the code %s: down is %s', (code, away) => {
  expect(isDatabaseAway(Object.assign(new Error('x'), { code }))).toBe(away);
});
