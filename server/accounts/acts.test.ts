import { beforeEach, describe, expect, it } from 'vitest';
import { addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { emptyDatabase } from '#test/support/rows-for-test.ts';
import { giveApp } from '#test/support/two-factor-for-test.ts';
import { newestActOn } from '../audit/audit-event.ts';
import type { Database } from '../database/database.ts';
import { deskDatabase } from '../database/desk-role.ts';
import { hour } from '../limits.ts';
import { findUser } from '../people/portal-user.ts';
import { issueResetLink } from '../sign-in/reset-link.ts';
import { removeUser, signOutUser, unlockUser } from './act-on-user.ts';
import { changeCustomer } from './customers.ts';
import { inviteUsers } from './invite-users.ts';
import { keepTwoFactor, resetTwoFactor, resetTwoFactorLater } from './reset-two-factor.ts';
import { addUser as addNewUser, type ChangeOfUser, changeUser } from './users.ts';

const portal = portalOfFile();
let alice: string;
beforeEach(async () => {
  await emptyDatabase(portal);
  portal.mails.length = 0;
  for (const key of ['acme', 'beta']) await addCustomer(portal, key);
  alice = await addUser(portal, { username: 'alice' });
});

const by = () => portal.by();
const change = (name: string, what: ChangeOfUser) => changeUser(portal.sql, name, what, by());
const kindsOf = async (results: Promise<{ kind: string }>[]) =>
  (await Promise.all(results)).map(({ kind }) => kind).sort();

async function events(): Promise<string[]> {
  const rows = await portal.sql<{ words: string }[]>`
    select concat_ws(' ', event, username, '(' || customer_key || ')', actor) as words from audit_event order by id`;
  return rows.map(({ words }) => words);
}

async function mailed(): Promise<string[]> {
  await portal.workOff();
  return portal.mails.map(({ recipient, subject }) => `${recipient}: ${subject}`).sort();
}

async function databaseOf(key: string): Promise<Database> {
  const rows = await portal.sql<{ id: string }[]>`select id from customer where key = ${key}`;
  return deskDatabase(
    portal.sql,
    rows.map(({ id }) => id),
  );
}

describe('of two changes of what was seen the second is told', () => {
  it.each(['user', 'customer'])('of a %s', async (what) => {
    const seen = await newestActOn(portal.sql, what === 'user' ? { userId: alice } : { customerKey: 'acme' });
    const [by, { sql }] = [{ ...portal.by(), seen }, portal];
    const named = (name: string) =>
      what === 'user' ? changeUser(sql, 'alice', { name }, by) : changeCustomer(sql, 'acme', { name }, by);
    expect(await kindsOf([named('One'), named('Other')])).toEqual(['changed', 'changedMeanwhile']);
  });

  it('of the customers of a user, without a comparison, neither is lost', async () => {
    await addCustomer(portal, 'gamma');
    await Promise.all(['beta', 'gamma'].map((key) => change('alice', { customers: (current) => [...current, key] })));
    expect((await findUser(portal.sql, 'alice'))?.customers).toEqual(['acme', 'beta', 'gamma']);
  });
});

it('the last operator stays one, active and there, also when two take the role from each other at once', async () => {
  for (const username of ['olga', 'otto']) await addUser(portal, { username, role: 'operator' });
  await addUser(portal, { username: 'gone', role: 'operator', active: false });
  expect(await kindsOf(['olga', 'otto'].map((name) => change(name, { role: null })))).toEqual(['changed', 'refused']);
  const [last] = await portal.sql`select username from portal_user where role = 'operator' and active`;
  const refused = { kind: 'refused', problem: 'role: this is the last operator' };
  expect(await change(last?.username, { role: 'support' })).toEqual(refused);
  expect(await change(last?.username, { active: false })).toEqual(refused);
  expect(await removeUser(portal.sql, last?.username, by())).toBe(false);
  expect((await change(last?.username, { role: 'operator', name: 'Still' })).kind).toBe('changed');
  expect(await removeUser(portal.sql, 'gone', by())).toBe(true);
});

describe('a reset of the second factor that is an hour ahead', () => {
  const later = () => resetTwoFactorLater(portal.sql, 'alice', by());

  it('is told at once, asked for once, and done as by whoever asked', async () => {
    expect(await later()).toEqual({ kind: 'nothing' });
    await giveApp(portal, 'alice');
    const at = new Date(portal.deps.now().getTime() + hour);
    expect(await later()).toEqual({ kind: 'begun', at });
    portal.wait(hour / 2);
    expect(await later()).toEqual({ kind: 'begun', at });
    expect(await mailed()).toEqual(['alice@acme.test: Two-step verification for Vestibule will be turned off']);
    expect(portal.mails[0]?.text).toMatch(/Takes effect.*11:00.*\/portal\/account/s);
    portal.wait(hour / 2);
    await portal.workOff();
    expect(await mailed()).toContain('alice@acme.test: Two-step verification turned off for Vestibule');
    const both = ['two-factor-reset-begun alice (acme) os:alice', 'two-factor-reset alice (acme) os:alice'];
    expect(await events()).toEqual(both);
  });

  it('is told to who is inactive, and called off by another role or customer', async () => {
    await giveApp(portal, 'alice');
    await change('alice', { active: false });
    await later();
    await change('alice', { email: 'new@acme.test' });
    expect(await mailed()).toHaveLength(3);
    await change('alice', { role: 'support' });
    portal.wait(2 * hour);
    await portal.workOff();
    expect(await portal.sql`select from totp`).toHaveLength(1);
  });

  it('does not come once it is called off, or done at once', async () => {
    await giveApp(portal, 'alice');
    await later();
    for (const isKept of [true, false]) expect(await keepTwoFactor(portal.sql, 'alice', by())).toBe(isKept);
    await later();
    await resetTwoFactor(portal.sql, 'alice', by());
    await giveApp(portal, 'alice');
    portal.wait(2 * hour);
    await portal.workOff();
    expect(await portal.sql`select from totp`).toHaveLength(1);
  });
});

it('a changed email address is told to the old and the new one', async () => {
  await change('alice', { email: 'new@acme.test' });
  const subject = 'Email address changed for Vestibule';
  expect(await mailed()).toEqual([`alice@acme.test: ${subject}`, `new@acme.test: ${subject}`]);
});

describe('an administrator, held by PostgreSQL to their customer,', () => {
  it('does all of it to a person who is theirs alone, and sees each event', async () => {
    await giveApp(portal, 'alice');
    const [sql, { keys }] = [await databaseOf('acme'), portal.deps];
    for (const act of [unlockUser, signOutUser, resetTwoFactorLater, keepTwoFactor, resetTwoFactor])
      await act(sql, 'alice', by());
    await issueResetLink(sql, 'alice', by(), keys);
    const fields = { username: 'alicia', email: 'new@acme.test', name: 'A', language: 'de', active: false } as const;
    const more = { groups: () => ['acme:hr'], administers: () => ['acme'] };
    const seen = await newestActOn(sql, { userId: alice });
    await changeUser(sql, 'alice', { ...fields, ...more }, { ...by(), seen });
    await changeUser(sql, 'alicia', { active: true, passwordHash: null }, by());
    await inviteUsers(sql, keys, ['alicia'], by());
    await changeUser(sql, 'alicia', { customers: () => [] }, by());
    await changeCustomer(sql, 'acme', { name: 'Acme' }, { ...by(), seen: '' });
    const ofAlice = (event: string) => `${event} alice (acme) os:alice`;
    expect(await events()).toEqual([
      ...['user-unlocked', 'user-signed-out'].map(ofAlice),
      ...['two-factor-reset-begun', 'two-factor-reset-kept', 'two-factor-reset', 'reset-link-mailed'].map(ofAlice),
      ...['user-changed', 'user-changed', 'invited', 'user-changed'].map((event) => `${event} alicia (acme) os:alice`),
      'customer-changed (acme) os:alice',
    ]);
    expect(await findUser(sql, 'alicia')).toBeNull();
    const eve = { username: 'eve', email: 'eve@acme.test', customers: ['acme'], language: null, passwordHash: null };
    expect((await addNewUser(sql, { ...eve, active: true, mayChangePassword: true }, by())).kind).toBe('added');
    expect(await changeCustomer(sql, 'beta', { name: 'Beta' }, by())).toEqual({ kind: 'notFound' });
  });

  it('of a person with another customer changes the membership alone, and meets nobody else’s', async () => {
    await addUser(portal, { username: 'bob', customers: ['acme', 'beta'], groups: ['beta:hr'] });
    await addUser(portal, { username: 'carol', customers: ['beta'] });
    await giveApp(portal, 'bob');
    const sql = await databaseOf('acme');
    expect(await changeUser(sql, 'carol', { name: 'X' }, by())).toEqual({ kind: 'notFound' });
    for (const reset of [resetTwoFactor, resetTwoFactorLater])
      expect(await reset(sql, 'bob', by())).toEqual({ kind: 'nothing' });
    await expect(changeUser(sql, 'bob', { email: 'x@acme.test' }, by())).rejects.toThrow('row-level security');
    await expect(issueResetLink(sql, 'bob', by(), portal.deps.keys)).rejects.toThrow('row-level security');
    expect((await changeUser(sql, 'bob', { customers: () => [] }, by())).kind).toBe('changed');
    expect(await findUser(portal.sql, 'bob')).toMatchObject({ customers: ['beta'], groups: ['beta:hr'], hasApp: true });
  });
});
