import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type DatabaseForTest, databaseForTest } from '#test/support/database-for-test.ts';
import { holdRows, untilWaiting } from '#test/support/rows-for-test.ts';
import { connect } from '../database/connect.ts';
import type { Database } from '../database/database.ts';
import { findUser } from '../people/portal-user.ts';
import { removeUser } from './act-on-user.ts';
import { addCustomer, changeCustomer, removeCustomer } from './customers.ts';
import { addUser, changeUser } from './users.ts';

// Commands that run side by side, each in its own connection.

const now = new Date('2026-03-04T10:00:00Z');
let database: DatabaseForTest;
let pool: Database;
beforeAll(async () => {
  database = await databaseForTest();
  pool = connect(database.place);
});
beforeEach(async () => {
  await pool.unsafe('delete from portal_user; delete from customer');
  for (const key of ['acme', 'beta'])
    await addCustomer(pool, { key, name: key, allowedNetworks: [], twoFactor: 'off' }, now);
  await addUser(pool, newUser('alice', ['beta']), now);
});
afterAll(async () => {
  await pool.end();
  await database.close();
});

const newUser = (username: string, customers: string[]) => ({
  username,
  email: `${username}@acme.test`,
  passwordHash: null,
  active: true,
  mayChangePassword: true,
  language: null,
  customers,
});

test.each([
  ['changed', () => changeCustomer(pool, 'acme', { name: 'Acme Ltd.' }, now)],
  ['removed', () => removeCustomer(pool, 'acme', now)],
])('a user who gets a customer while it is %s: neither command fails', async (kind, change) => {
  const release = await holdRows(pool, (sql) => sql`select from customer where key = 'acme' for update`);
  const moving = changeUser(pool, 'alice', { customers: () => ['acme'] }, now);
  await untilWaiting(pool, 1);
  const changing = change();
  await untilWaiting(pool, 2);
  await release();
  expect([(await moving).kind, (await changing).kind]).toEqual(['changed', kind]);
  expect((await findUser(pool, 'alice'))?.customers).toEqual(kind === 'removed' ? [] : ['acme']);
});

test('users and customers that are added, changed and removed side by side: no command fails', async () => {
  for (let round = 0; round < 10; round += 1) {
    const [leaver, comer] = [`leaver-${round}`, `comer-${round}`];
    await addUser(pool, newUser(leaver, ['acme', 'beta']), now);
    await Promise.all([
      changeCustomer(pool, 'acme', { name: `Acme ${round}` }, now),
      changeCustomer(pool, 'beta', { name: `Beta ${round}` }, now),
      addUser(pool, newUser(comer, ['acme', 'beta']), now),
      changeUser(pool, 'alice', { customers: () => (round % 2 ? ['beta'] : ['acme', 'beta']) }, now),
      removeUser(pool, leaver, now),
      changeCustomer(pool, 'acme', { twoFactor: round % 2 ? 'off' : 'app' }, now),
    ]);
    expect((await findUser(pool, comer))?.customers).toEqual(['acme', 'beta']);
  }
});
