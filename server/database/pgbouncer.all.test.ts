import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { type DatabaseForTest, databaseForTest } from '#test/support/database-for-test.ts';
import { type PgbouncerForTest, pgbouncerForTest } from '#test/support/pgbouncer-for-test.ts';
import { cookiesOf, portalForTest, testPassword } from '#test/support/portal-for-test.ts';
import { connect } from './connect.ts';
import { type Connection, RollBack } from './database.ts';
import { migrate } from './migrate.ts';

let database: DatabaseForTest;
let pooler: PgbouncerForTest;
beforeAll(async () => {
  database = await databaseForTest();
  pooler = await pgbouncerForTest(database);
}, 120_000);
afterAll(async () => {
  await pooler.close();
  await database.close();
});

test('behind PgBouncer in transaction mode every byte is right, under load', { timeout: 300_000 }, async () => {
  const { sql } = pooler;
  await database.sql`create table kept (id uuid primary key, bytes bytea, words text[], document jsonb)`;
  const words = ['', `it's`, 'a "quoted" one', 'back\\slash', '{a,b}', 'NULL', '$1', '日本 🙂', 'line\nbreak'];
  const insertAndRead = async (sql: Connection, bytes: Buffer) => {
    const id = randomUUID();
    await sql`insert into kept values (${id}, ${bytes}, ${words}, ${JSON.stringify({ words })})`;
    return (await sql`select bytes, words, document from kept where id = ${id}`)[0];
  };
  const clients = Array.from({ length: 20 }, async () => {
    for (let n = 0; n < 100; n += 1) {
      const bytes = randomBytes(n === 0 ? 200_000 : n * 20);
      const row = { bytes, words, document: { words } };
      expect(await insertAndRead(sql, bytes)).toEqual(row);
      expect(await sql.begin((sql) => insertAndRead(sql, bytes))).toEqual(row);
      expect(await sql.begin(async (sql) => new RollBack(await insertAndRead(sql, bytes)))).toEqual(row);
    }
  });
  await Promise.all(clients);
  // As PostgreSQL itself has it.
  expect(await database.sql`select from kept`).toHaveLength(20 * 100 * 2);
  expect(await sql`select from pg_prepared_statements`).toHaveLength(0);
});

test('a whole portal works behind it: several migrate at once, and people sign in', { timeout: 120_000 }, async () => {
  await database.sql.unsafe('drop schema public cascade; create schema public');
  const others = Array.from({ length: 3 }, () => connect({ url: pooler.url }));
  const applied = (await Promise.all(others.map((other) => migrate(other)))).flat();
  expect(applied).toEqual(['0001-initial.sql']);
  await Promise.all(others.map((other) => other.end()));
  const portal = await portalForTest({}, { database }, { sql: pooler.sql });
  await addCustomer(portal, 'acme');
  const names = Array.from({ length: 20 }, (_, index) => `user-${index}`);
  for (const username of names) await addUser(portal, { username });
  const signedIn = async (username: string) => {
    const cookies = cookiesOf(await portal.signIn(username, testPassword));
    const answer = await portal.send({ url: '/portal/session', cookies });
    return [answer.statusCode, answer.json().username];
  };
  expect(await Promise.all(names.map(signedIn))).toEqual(names.map((name) => [200, name]));
  await portal.close();
});

test('one that refuses our settings says which', { timeout: 60_000 }, async () => {
  const strict = await pgbouncerForTest(database, {});
  await expect(strict.sql`select 1`).rejects.toThrow('unsupported startup parameter');
  await strict.close();
});
