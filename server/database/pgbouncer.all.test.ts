import { afterAll, beforeAll, expect, test } from 'vitest';
import { addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { type DatabaseForTest, databaseForTest } from '#test/support/database-for-test.ts';
import { type PgbouncerForTest, pgbouncerForTest } from '#test/support/pgbouncer-for-test.ts';
import { cookiesOf, portalForTest, testPassword } from '#test/support/portal-for-test.ts';
import { connect } from './connect.ts';
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
