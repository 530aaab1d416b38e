import { describe, expect, it } from 'vitest';
import { addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { cookiesOf, testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import {
  askForLink,
  askForReset,
  changedPage,
  changeTo,
  linkFor,
  newPassword,
  startAfresh,
  storedHash,
  tokenIn,
  userId,
} from '#test/support/reset-for-test.ts';
import { type ChangeOfUser, changeUser } from '../accounts/users.ts';
import { limits } from '../limits.ts';

const portal = portalOfFile({ each: startAfresh });

const change = async (what: ChangeOfUser, name = 'alice') =>
  (await changeUser(portal.sql, name, what, portal.deps.now())).kind;

const isAlive = async (cookies: Record<string, string>) =>
  (await portal.send({ url: '/portal/session', cookies })).statusCode === 200;
const landingOfSignIn = async (username: string, password: string, more = {}) =>
  (await portal.signIn(username, password, more)).headers.location;
const [inside, outside] = ['/portal/portal.html', '/portal/loginfail/default'];

/** What depends on a user's password. */
async function hanging(username: string) {
  const id = await userId(portal, username);
  const [row] = await portal.sql`
    select (select count(*) from session where user_id = ${id}) as sessions,
      (select count(*) from device where user_id = ${id}) as devices,
      (select count(*) from throttle where key like ${`%${id}`}) as waits,
      (select count(*) from reset_link where user_id = ${id} and used_at is null and ends_at > made_at) as links,
      (select count(*) from former_password where user_id = ${id}) as former`;
  return row;
}

/** Signs in twice, once from a known browser, fails there and elsewhere, and has a link. */
async function leaveTraces(username: string): Promise<void> {
  const cookies = cookiesOf(await portal.signIn(username, testPassword));
  await portal.signIn(username, testPassword);
  await portal.signIn(username, 'wrong', { cookies });
  await portal.signIn(username, 'wrong');
  await linkFor(portal, username);
}

const all = { sessions: 2, devices: 2, waits: 2, links: 1, former: 0 };
const ended = { sessions: 0, devices: 0, waits: 0 };

describe('a replaced password', () => {
  it.each([
    ['another by an operator', () => change({ passwordHash: 'another hash' }), 'changed', 1],
    ['none by an operator', () => change({ passwordHash: null }), 'changed', 1],
    [
      'another by a link',
      async () => (await changeTo(portal, await linkFor(portal, 'alice'), newPassword)).headers.location,
      changedPage,
      0,
    ],
  ] as const)(
    'SE-13 PR-18 %s: ends everything that depended on the old one, for this user only',
    async (_what, replace, done, links) => {
      for (const username of ['alice', 'bob']) await leaveTraces(username);
      expect([await hanging('alice'), await hanging('bob')]).toEqual([all, all]);
      const before = await storedHash(portal, 'alice');
      expect(await replace()).toBe(done);
      expect([await hanging('alice'), await hanging('bob')]).toEqual([{ ...ended, links, former: 1 }, all]);
      const alice = await userId(portal, 'alice');
      expect(await portal.sql`select user_id, password_hash, replaced_at from former_password`).toEqual([
        { user_id: alice, password_hash: before, replaced_at: portal.deps.now() },
      ]);
      const [event] =
        await portal.sql`select steps from audit_event where event in ('user-changed', 'password-changed')`;
      expect(event?.steps).toContainEqual({ step: 'sessions ended', outcome: '2' });
      expect(JSON.stringify(event)).not.toMatch(/another hash|argon2/);
    },
  );
});

describe('the notice', () => {
  const mails = async () => {
    await portal.workOff();
    return portal.mails.map(({ recipient, subject }) => [recipient, subject]);
  };

  it("follows a password set by an operator, in the user's language and without an address", async () => {
    await portal.sql`update portal_user set language = 'de' where username = 'alice'`;
    await change({ passwordHash: 'another' });
    expect(await mails()).toEqual([['alice@acme.test', expect.stringContaining('Passwort')]]);
    const [mail = { text: '', html: '' }] = portal.mails;
    expect(mail.html).toContain('lang="de"');
    expect(mail.text).toContain('alice');
    expect(mail.text).not.toMatch(/hash=|\d+\.\d+\.\d+\.\d+|another/);
  });
});

describe('a password is changed by a link', () => {
  it('from the request to the sign-in with the new one, with a notice, also of an account that has to wait', async () => {
    for (let guess = 0; guess < limits.throttle.account.freeFailures; guess += 1)
      await portal.signIn('alice', `guess ${guess}`, { from: `192.0.2.${guess}` });
    expect(await landingOfSignIn('alice', testPassword)).toBe(outside);
    const asked = await askForReset(portal, 'alice@acme.test');
    expect([asked.statusCode, asked.headers.location]).toEqual([303, '/portal/emailInfo']);
    await portal.workOff();
    expect(portal.mails).toMatchObject([{ recipient: 'alice@acme.test' }]);
    const changed = await changeTo(portal, tokenIn(portal.mails[0]), newPassword);
    expect([changed.statusCode, changed.headers.location]).toEqual([303, changedPage]);
    expect(await landingOfSignIn('alice', testPassword)).toBe(outside);
    expect(await landingOfSignIn('alice', newPassword)).toBe(inside);
    await portal.workOff();
    expect(portal.mails).toMatchObject([{}, { recipient: 'alice@acme.test', subject: /password was changed/i }]);
    expect(portal.mails[1]?.text).toContain('198.51.100.7');
    expect(portal.mails[1]?.text).not.toContain('hash=');
  });

  it('LK-05 until then the old password is valid, and the sessions continue', async () => {
    const session = cookiesOf(await portal.signIn('alice', testPassword));
    await changeTo(portal, await askForLink(portal, 'alice'), 'lanternq');
    expect(await isAlive(session)).toBe(true);
    expect(await landingOfSignIn('alice', testPassword)).toBe(inside);
  });

  it.each(['app', 'email'] as const)(
    'PR-18 PR-20 a half session ends, nobody is signed in, and the second factor by %s is still required',
    async (twoFactor) => {
      await addCustomer(portal, 'careful', { twoFactor });
      await addUser(portal, { username: 'frida', customers: ['careful'] });
      const before = await landingOfSignIn('frida', testPassword);
      expect(before).toMatch(/^\/portal\/twoFactor/);
      const changed = await changeTo(portal, await linkFor(portal, 'frida'), newPassword);
      expect(changed.headers.location).toBe(changedPage);
      expect(Object.keys(cookiesOf(changed))).not.toContain('vestibule-session');
      expect(await portal.sql`select from session`).toHaveLength(0);
      const signedIn = await portal.signIn('frida', newPassword);
      expect(signedIn.headers.location).toBe(before);
      expect(await isAlive(cookiesOf(signedIn))).toBe(false);
    },
  );
});
