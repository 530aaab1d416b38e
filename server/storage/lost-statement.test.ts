import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type DatabaseForTest, databaseForTest } from '#testing/database-for-test.ts';
import { connect, isDatabaseAway } from './connect.ts';
import type { Database } from './database.ts';

let database: DatabaseForTest;
let sql: Database;
let notices: string[];
beforeAll(async () => {
  database = await databaseForTest();
});
beforeEach(() => {
  notices = [];
  sql = connect(database.place, { poolSize: 1, onNotice: (text) => void notices.push(text) });
  return async () => sql.end({ timeout: 1 });
});
afterAll(() => database.close());

const bytes = Buffer.from([1, 2, 255]);
const at = new Date('2026-03-01T10:00:00.123Z');
const values = { bytes, yes: true, json: { a: [1] }, words: ['a"b', 'c'], at, big: 2 ** 53 - 1, none: null };

/** One of every kind of value, as a round trip. */
async function echo(of: Database = sql) {
  const { words, json, big } = values;
  const [row] = await of`
    select ${bytes}::bytea as bytes, ${true}::boolean as yes, ${of.json(json)}::jsonb as json, ${words}::text[] as words,
      ${at}::timestamptz as at, ${big}::bigint as big, ${null}::text as none`;
  return row;
}

test.each(['deallocate all', 'discard all'])('after "%s" every value arrives intact', async (command) => {
  expect(await echo()).toEqual(values);
  await sql.unsafe(command);
  expect(await echo()).toEqual(values);
  expect(await echo()).toEqual(values);
  expect(notices.filter((text) => text.includes('prepared'))).toHaveLength(1);
});

test('after the table of a prepared statement changed, every value arrives intact', async () => {
  await sql`create table fruit (id int, raw bytea)`;
  await sql`insert into fruit values (1, ${bytes})`;
  const find = () => sql`select * from fruit where raw = ${bytes}`;
  expect(await find()).toEqual([{ id: 1, raw: bytes }]);
  await sql.unsafe('alter table fruit add more int');
  expect(await find()).toEqual([{ id: 1, raw: bytes, more: null }]);
});

test('after the type of a column changed, the statement is answered like a new one', async () => {
  await sql`create table berry (id int)`;
  const insert = (id: number) => sql`insert into berry (id) values (${id})`;
  await insert(1);
  await sql.unsafe('alter table berry alter id type text');
  await insert(2);
  expect(await sql`select id from berry order by id`).toEqual([{ id: '1' }, { id: '2' }]);
});

test('statements lost side by side each get their own answer', async () => {
  const first = (who: string) => sql`select ${who}::text as who`;
  const second = (who: string) => sql`select ${who}::text as who /* second */`;
  await Promise.all([first(''), second('')]);
  for (let round = 0; round < 30; round += 1) {
    sql.options.prepare = true;
    await sql.unsafe('deallocate all');
    await second('');
    sql.options.prepare = true;
    const asked = ['a', 'b', 'c', 'd', 'e'].map((name) => `${name}${round}`);
    const answers = [first(asked[0] as string).execute()];
    for (const name of asked.slice(1)) {
      await new Promise((resolve) => setImmediate(resolve));
      answers.push(second(name).execute());
    }
    const came = await Promise.race([Promise.all(answers), new Promise((resolve) => setTimeout(resolve, 2000))]);
    expect(came).toEqual(asked.map((who) => [{ who }]));
  }
});

test('a transaction that loses a statement fails as a whole as the database being down, and the next one succeeds', async () => {
  await sql`create table nut (raw bytea)`;
  const work = (loses: boolean) =>
    sql.begin(async (sql) => {
      await sql`insert into nut values (${bytes})`;
      if (loses) await sql.unsafe('deallocate all');
      await sql`insert into nut values (${bytes})`;
    });
  await work(false);
  const error: unknown = await work(true).then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(isDatabaseAway(error)).toBe(true);
  expect(await sql`select raw from nut`).toEqual([{ raw: bytes }, { raw: bytes }]);
  await work(false);
  expect(await sql`select raw from nut where raw <> ${bytes}`).toEqual([]);
});

test('a statement does not wait behind a hanging one while another connection is free', async () => {
  const pool = connect(database.place, { poolSize: 2 });
  await Promise.all([pool`select pg_sleep(0.05)`, pool`select pg_sleep(0.05)`]);
  let hanging: Promise<unknown> = Promise.resolve();
  const came = await sql.begin(async (holder) => {
    await holder`select pg_advisory_xact_lock(7)`;
    hanging = pool`select pg_advisory_xact_lock(7)`.execute();
    const quick = Array.from({ length: 6 }, (_, at) => pool`select ${at}::int as at, pg_sleep(0.01)`.execute());
    const late = new Promise<[]>((resolve) => setTimeout(resolve, 3000, []));
    return (await Promise.race([Promise.all(quick), late])).length;
  });
  await hanging;
  await pool.end({ timeout: 1 });
  expect(came).toBe(6);
});

test('a wrong statement is tried once', async () => {
  await expect(sql`select ${1}::int / 0`).rejects.toMatchObject({ code: '22012' });
  await expect(sql`select * from nowhere where id = ${1}`).rejects.toMatchObject({ code: '42P01' });
  expect(sql.options.prepare).toBe(true);
});

test('fragments, lists of rows and single statements keep working without prepared ones', async () => {
  await echo();
  await sql.unsafe('deallocate all');
  await echo();
  expect(sql.options.prepare).toBe(false);
  const condition = sql`name = ${'b'}`;
  await sql`create table herb (name text, raw bytea)`;
  await sql`insert into herb ${sql([
    { name: 'a', raw: bytes },
    { name: 'b', raw: bytes },
  ])}`;
  expect(await sql`select name, raw from herb where ${condition}`).toEqual([{ name: 'b', raw: bytes }]);
  expect((await sql`delete from herb`).count).toBe(2);
});

test('what reopens a connection does not get the error that ended it', async () => {
  const sql = connect(database.place, { name: 'to be ended', poolSize: 1 });
  const endDuring = async (statement: PromiseLike<unknown>) => {
    const ended = Promise.resolve(statement).catch((error: { code: string }) => error.code);
    const pid = `pid from pg_stat_activity where application_name = 'to be ended' and state = 'active'`;
    await expect.poll(() => database.sql.unsafe(`select ${pid}`)).toHaveLength(1);
    await database.sql.unsafe(`select pg_terminate_backend(${pid.replace(' ', ') ')}`);
    expect(await ended).toMatch(/^(CONNECTION_CLOSED|57P01)$/);
  };
  await database.sql`create table runs (number int)`;
  const slow = () => sql`with run as (insert into runs values (${1})) select pg_sleep(${5})`;
  await endDuring(slow());
  expect(await sql`select ${1}::int as one`).toEqual([{ one: 1 }]);
  await endDuring(slow());
  expect(await sql.begin((transaction) => transaction`select ${2}::int as two`)).toEqual([{ two: 2 }]);
  // Those that it ended on are not run again.
  expect(
    await database.sql`select state from pg_stat_activity where query like '%into runs%' and pid <> pg_backend_pid() and state = 'active'`,
  ).toEqual([]);
  expect(await database.sql`select from runs`).toEqual([]);
  await sql.end({ timeout: 1 });
});

test('a server that ends every connection while it starts is the database being down', async () => {
  const fields = ['SFATAL', 'VFATAL', 'C57P01', 'Mterminating connection due to administrator command'];
  const text = Buffer.from(`${fields.join('\0')}\0\0`);
  const length = Buffer.alloc(4);
  length.writeInt32BE(text.length + 4);
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.end(Buffer.concat([Buffer.from('E'), length, text])));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const ended = connect({ url: `postgres://u:p@127.0.0.1:${port}/x` }, { poolSize: 2 });
  const errors = await Promise.all(
    [ended`select`, ended.begin(async () => {})].map((one) => Promise.resolve(one).catch((error) => error)),
  );
  expect(errors.map(isDatabaseAway)).toEqual([true, true]);
  await ended.end({ timeout: 1 });
  server.close();
});
