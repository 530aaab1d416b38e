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
import { mailResetLink } from '../sign-in/reset-link.ts';
import { removeUser, resetTwoFactor, signOutUser, unlockUser } from './act-on-user.ts';
import { changeCustomer } from './customers.ts';
import { inviteUsers } from './invite-users.ts';
import { findReset, keepTwoFactor, resetTwoFactorLater } from './reset-later.ts';
import { addUser as addNewUser, changeUser } from './users.ts';

const portal = portalOfFile();
let alice: string;
beforeEach(async () => {
  await emptyDatabase(portal);
  portal.mails.length = 0;
  for (const key of ['acme', 'beta']) await addCustomer(portal, key);
  alice = await addUser(portal, { username: 'alice' });
});

const by = () => portal.by();

async function events(): Promise<string[]> {
  const rows = await portal.sql<{ words: string }[]>`
    select concat_ws(' ', event, username, '(' || customer_key || ')') as words from audit_event order by id`;
  return rows.map(({ words }) => words);
}

async function mailed(): Promise<string[]> {
  await portal.workOff();
  return portal.mails.map(({ recipient, subject }) => `${recipient}: ${subject}`);
}

async function scopedTo(key: string): Promise<Database> {
  const rows = await portal.sql<{ id: string }[]>`select id from customer where key = ${key}`;
  return deskDatabase(
    portal.sql,
    rows.map(({ id }) => id),
  );
}

describe('events say whose they are', () => {
  it('of a user the customers before and after', async () => {
    await unlockUser(portal.sql, 'alice', by());
    await changeUser(portal.sql, 'alice', { customers: () => ['beta'] }, by());
    await signOutUser(portal.sql, 'alice', by());
    await mailResetLink(portal.sql, portal.deps.keys, 'alice', by());
    await removeUser(portal.sql, 'alice', by());
    expect(await events()).toEqual([
      'user-unlocked alice (acme)',
      'user-changed alice (acme, beta)',
      'user-signed-out alice (beta)',
      'reset-link-mailed alice (beta)',
      'user-removed alice (beta)',
    ]);
  });
});

describe('of two changes at once the second is told', () => {
  it('of a user', async () => {
    const seen = await newestActOn(portal.sql, { userId: alice });
    const change = (name: string, seen?: string) => changeUser(portal.sql, 'alice', { name }, { ...by(), seen });
    const [one, other] = await Promise.all([change('One', seen), change('Other', seen)]);
    expect([one.kind, other.kind].sort()).toEqual(['changed', 'changedMeanwhile']);
    expect((await change('Third', await newestActOn(portal.sql, { userId: alice }))).kind).toBe('changed');
    expect((await change('Fourth')).kind).toBe('changed');
  });

  it('of a customer', async () => {
    const seen = await newestActOn(portal.sql, { customerKey: 'acme' });
    const change = (name: string) => changeCustomer(portal.sql, 'acme', { name }, { ...by(), seen });
    const [one, other] = await Promise.all([change('One'), change('Other')]);
    expect([one.kind, other.kind].sort()).toEqual(['changed', 'changedMeanwhile']);
    const [plan] = await portal.sql`
      explain (format json) select id from audit_event where customer_key = 'acme' and event = 'customer-changed'
      order by id desc limit 1`;
    expect(JSON.stringify(plan)).toContain('audit_event_of_customer');
  });

  it('of the customers of a user, neither is lost', async () => {
    await addCustomer(portal, 'gamma');
    await Promise.all(
      ['beta', 'gamma'].map((key) =>
        changeUser(portal.sql, 'alice', { customers: (current) => [...current, key] }, by()),
      ),
    );
    expect((await findUser(portal.sql, 'alice'))?.customers).toEqual(['acme', 'beta', 'gamma']);
  });
});

describe('a role', () => {
  it('is given and taken, and a customer to look after only to one of its people', async () => {
    const given = { role: 'support', administers: () => ['acme'] } as const;
    expect(await changeUser(portal.sql, 'alice', given, by())).toMatchObject({
      steps: [
        { step: 'role', outcome: 'none → support' },
        { step: 'administers', outcome: 'none → acme' },
      ],
    });
    expect(await findUser(portal.sql, 'alice')).toMatchObject({ role: 'support', administers: ['acme'] });
    expect(await changeUser(portal.sql, 'alice', { administers: () => ['beta'] }, by())).toMatchObject({
      problem: 'administer: beta is not a customer of the user',
    });
    await changeUser(portal.sql, 'alice', { customers: () => ['beta'], role: null }, by());
    expect(await findUser(portal.sql, 'alice')).toMatchObject({ role: null, administers: [] });
  });

  it('the last operator stays one, active and there, also when two take it from each other at once', async () => {
    for (const username of ['olga', 'otto']) await addUser(portal, { username, role: 'operator' });
    await addUser(portal, { username: 'gone', role: 'operator', active: false });
    const take = (name: string) => changeUser(portal.sql, name, { role: null }, by());
    const kinds = (await Promise.all([take('olga'), take('otto')])).map(({ kind }) => kind);
    expect(kinds.sort()).toEqual(['changed', 'refused']);
    const [last] = await portal.sql<{ username: string }[]>`
      select username from portal_user where role = 'operator' and active`;
    const name = last?.username ?? '';
    const refused = { kind: 'refused', problem: 'role: this is the last operator' };
    for (const change of [{ role: 'support' as const }, { active: false }])
      expect(await changeUser(portal.sql, name, change, by())).toEqual(refused);
    expect(await removeUser(portal.sql, name, by())).toBe('lastOperator');
    expect((await changeUser(portal.sql, name, { role: 'operator', name: 'Still' }, by())).kind).toBe('changed');
    expect(await removeUser(portal.sql, 'gone', by())).toBe('removed');
  });
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
    expect(await findReset(portal.sql, alice)).toEqual(at);
    expect(await mailed()).toEqual(['alice@acme.test: Two-step verification for Vestibule will be turned off']);
    expect(portal.mails[0]?.text).toMatch(/Takes effect.*11:00.*\/portal\/account/s);
    portal.wait(hour / 2);
    await portal.workOff();
    expect(await mailed()).toContain('alice@acme.test: Two-step verification turned off for Vestibule');
    expect(await events()).toEqual(['two-factor-reset-begun alice (acme)', 'two-factor-reset alice (acme)']);
    const actors = await portal.sql`select distinct actor from audit_event`;
    expect(actors).toEqual([{ actor: 'os:alice' }]);
    expect(await findReset(portal.sql, alice)).toBeNull();
  });

  it('does not come once it is called off, or done at once', async () => {
    await giveApp(portal, 'alice');
    await later();
    expect(await keepTwoFactor(portal.sql, 'alice', by())).toBe(true);
    expect(await keepTwoFactor(portal.sql, 'alice', by())).toBe(false);
    await later();
    await resetTwoFactor(portal.sql, 'alice', by());
    await giveApp(portal, 'alice');
    portal.wait(2 * hour);
    await portal.workOff();
    expect(await portal.sql`select from totp`).toHaveLength(1);
  });
});

it('a changed email address is told to the old and the new one', async () => {
  await changeUser(portal.sql, 'alice', { email: 'new@acme.test' }, by());
  const subject = 'Email address changed for Vestibule';
  expect((await mailed()).sort()).toEqual([`alice@acme.test: ${subject}`, `new@acme.test: ${subject}`]);
});

describe('an administrator, held by PostgreSQL to their customer,', () => {
  it('does all of it to a person who is theirs alone', async () => {
    await giveApp(portal, 'alice');
    const sql = await scopedTo('acme');
    const { keys } = portal.deps;
    expect(await unlockUser(sql, 'alice', by())).toBe(true);
    expect((await resetTwoFactorLater(sql, 'alice', by())).kind).toBe('begun');
    expect(await findReset(sql, alice)).not.toBeNull();
    expect(await keepTwoFactor(sql, 'alice', by())).toBe(true);
    expect((await resetTwoFactor(sql, 'alice', by())).kind).toBe('removed');
    expect((await mailResetLink(sql, keys, 'alice', by())).kind).toBe('mailed');
    const seen = await newestActOn(sql, { userId: alice });
    const change = { username: 'alicia', email: 'new@acme.test', name: 'A', language: 'de', active: false } as const;
    const more = { groups: () => ['acme:hr'], administers: () => ['acme'] };
    expect((await changeUser(sql, 'alice', { ...change, ...more }, { ...by(), seen })).kind).toBe('changed');
    expect((await changeUser(sql, 'alicia', { active: true, passwordHash: null }, by())).kind).toBe('changed');
    expect((await inviteUsers(sql, keys, ['alicia'], by())).kind).toBe('invited');
    const eve = { username: 'eve', email: 'eve@acme.test', customers: ['acme'], groups: ['acme:hr'], language: null };
    const bare = { passwordHash: null, active: true, mayChangePassword: true };
    expect((await addNewUser(sql, { ...eve, ...bare }, by())).kind).toBe('added');
    expect((await changeCustomer(sql, 'acme', { name: 'Acme' }, { ...by(), seen: '' })).kind).toBe('changed');
    expect(await changeCustomer(sql, 'beta', { name: 'Beta' }, by())).toEqual({ kind: 'notFound' });
    expect((await changeUser(sql, 'alicia', { customers: () => [] }, by())).kind).toBe('changed');
    expect(await findUser(sql, 'alicia')).toBeNull();
    expect((await events()).every((words) => words.endsWith('(acme)') || words.startsWith('customer'))).toBe(true);
  });

  it('of a person with another customer changes the membership alone, and meets nobody else’s', async () => {
    await addUser(portal, { username: 'bob', customers: ['acme', 'beta'], groups: ['beta:hr'] });
    await addUser(portal, { username: 'carol', customers: ['beta'] });
    await giveApp(portal, 'bob');
    const sql = await scopedTo('acme');
    expect(await changeUser(sql, 'carol', { name: 'X' }, by())).toEqual({ kind: 'notFound' });
    expect((await changeUser(sql, 'bob', { groups: () => ['acme:x'] }, by())).kind).toBe('changed');
    expect(await resetTwoFactor(sql, 'bob', by())).toEqual({ kind: 'nothing' });
    expect(await resetTwoFactorLater(sql, 'bob', by())).toEqual({ kind: 'nothing' });
    await expect(changeUser(sql, 'bob', { email: 'x@acme.test' }, by())).rejects.toThrow('row-level security');
    await expect(mailResetLink(sql, portal.deps.keys, 'bob', by())).rejects.toThrow('row-level security');
    expect((await changeUser(sql, 'bob', { customers: () => [] }, by())).kind).toBe('changed');
    expect(await findUser(portal.sql, 'bob')).toMatchObject({ customers: ['beta'], groups: ['beta:hr'], hasApp: true });
  });
});
