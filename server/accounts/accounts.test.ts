import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type DatabaseForTest, databaseForTest } from '#test/support/database-for-test.ts';
import { countThrottleAttempt, emptyDatabase } from '#test/support/rows-for-test.ts';
import { listAuditEvents } from '../audit/audit-event.ts';
import { limits } from '../limits.ts';
import { foldLoginName } from '../names/read-name.ts';
import { findUser, listUsers } from '../people/portal-user.ts';
import { accountKey } from '../throttle/throttle-keys.ts';
import { addCustomer } from './customers.ts';
import { addUser, changeUser } from './users.ts';

const now = new Date('2026-03-01T10:00:00Z');
const by = { actor: 'os:alice', now };
const plainCustomer = { name: 'Acme', allowedNetworks: [], twoFactor: 'off' } as const;
const alice = {
  username: 'alice',
  email: 'alice@corp.example',
  passwordHash: null,
  active: true,
  mayChangePassword: true,
  language: null,
  customers: ['acme'],
};

let database: DatabaseForTest;
beforeAll(async () => {
  database = await databaseForTest();
});
beforeEach(async () => {
  await emptyDatabase(database);
  await addCustomer(database.sql, { key: 'acme', ...plainCustomer, allowedNetworks: [] }, by);
  await addCustomer(
    database.sql,
    { key: 'beta', ...plainCustomer, allowedNetworks: ['203.0.113.0/24', '2001:db8::/32'] },
    by,
  );
});
afterAll(() => database.close());

const taken = (field: string) => ({ kind: 'refused', problem: `${field}: another user already has that name` });

async function lastEvent() {
  const [event] = await listAuditEvents(database.sql, { limit: 1 });
  return event;
}

async function addSession(userId: string) {
  await database.sql`
    insert into session (token_hash, user_id, stage, customer_ids, address, created_at, last_seen_at, ends_at)
    values (${Buffer.from(userId.replaceAll('-', ''))}, ${userId}, 'full', '{}', '127.0.0.1', ${now}, ${now}, ${now})`;
}

describe('adding a user', () => {
  test('makes it known by both names, and records it without the hash', async () => {
    const added = await addUser(database.sql, { ...alice, passwordHash: '$argon2id$canary' }, by);
    expect(added).toEqual({ kind: 'added', id: expect.any(String) });
    for (const name of ['ALICE', ' alice@CORP.example. ', '\uff41lice']) {
      expect(await findUser(database.sql, foldLoginName(name))).toMatchObject({
        username: 'alice',
        hasPassword: true,
        customers: ['acme'],
      });
    }
    expect(await lastEvent()).toMatchObject({ event: 'user-added', username: 'alice', actor: 'os:alice', at: now });
    expect(JSON.stringify(await lastEvent())).not.toContain('canary');
    expect(JSON.stringify(await listUsers(database.sql, { limit: 10 }))).not.toContain('canary');
  });

  test.each([
    ['username', { username: 'ALICE', email: 'other@corp.example' }],
    ['username', { username: '\uff41lice', email: 'other@corp.example' }],
    ['email', { username: 'other', email: 'alice@CORP.example' }],
    ['username', { username: 'alice@corp.example', email: 'other@corp.example' }],
  ])('a name that another user has in any form is refused and nothing is written: %s (UN-08)', async (field, names) => {
    await addUser(database.sql, alice, by);
    expect(await addUser(database.sql, { ...alice, ...names }, by)).toEqual(taken(field));
    expect(await listUsers(database.sql, { limit: 10 })).toHaveLength(1);
    expect(await database.sql`select from audit_event where event = 'user-added'`).toHaveLength(1);
  });

  test('of concurrent additions of one name exactly one succeeds (UN-08)', async () => {
    // With open connections all of them really start at once.
    await Promise.all(Array.from({ length: 10 }, () => database.sql`select pg_sleep(0.05)`));
    for (const name of ['carol', 'dave', 'erin', 'frank']) {
      const attempts = Array.from({ length: 10 }, (_, index) => ({
        ...alice,
        username: index % 2 ? name : name.toUpperCase(),
        email: `${name}${index}@corp.example`,
      }));
      const results = await Promise.all(attempts.map((user) => addUser(database.sql, user, by)));
      expect(results.filter(({ kind }) => kind === 'added')).toHaveLength(1);
      expect(results.filter(({ kind }) => kind === 'refused')).toEqual(Array(9).fill(taken('username')));
    }
  });
});

describe('changing a user', () => {
  let id: string;
  beforeEach(async () => {
    const added = await addUser(database.sql, alice, by);
    if (added.kind !== 'added') throw new Error('alice is there already');
    id = added.id;
    await addSession(id);
  });
  const sessions = async () => (await database.sql`select from session where user_id = ${id}`).length;

  test('a new email frees the old name and takes the new one; sessions continue', async () => {
    await changeUser(database.sql, 'alice@corp.example', { email: 'a@new.example', language: 'de' }, by);
    expect(await findUser(database.sql, 'alice@corp.example')).toBeNull();
    expect(await findUser(database.sql, 'a@new.example')).toMatchObject({ username: 'alice', language: 'de' });
    expect(await findUser(database.sql, 'alice')).not.toBeNull();
    expect(await sessions()).toBe(1);
  });

  test("a new password ends sessions and the account's waits; the event does not show it", async () => {
    await countThrottleAttempt(database.sql, { key: accountKey(id), limit: limits.throttle.account }, now);
    const result = await changeUser(database.sql, 'alice', { passwordHash: 'canary' }, by);
    expect(result).toMatchObject({ kind: 'changed', sessionsEnded: 1 });
    expect(await sessions()).toBe(0);
    expect(await database.sql`select from throttle`).toHaveLength(0);
    expect((await lastEvent())?.steps).toEqual([
      { step: 'password', outcome: 'set' },
      { step: 'sessions ended', outcome: '1' },
    ]);
  });
});
