import { describe, expect, it } from 'vitest';
import { limits } from '#server/limits.ts';
import { addCustomer, addUser } from '#testing/accounts-for-test.ts';
import { cookiesOf, testPassword } from '#testing/portal-for-test.ts';
import { portalOfFile } from '#testing/portal-of-file.ts';
import {
  askForLink,
  askForReset,
  changedPage,
  changeTo,
  failedPage,
  linkFor,
  newPassword,
  startAfresh,
  storedHash,
  tokenIn,
  userId,
} from '#testing/reset-for-test.ts';

const portal = portalOfFile({ each: startAfresh });

const isAlive = async (cookies: Record<string, string>) =>
  (await portal.send({ url: '/portal/session', cookies })).statusCode === 200;
const landingOfSignIn = async (username: string, password: string, more = {}) =>
  (await portal.signIn(username, password, more)).headers.location;
const [inside, outside] = ['/portal/portal.html', '/portal/loginfail/default'];

describe('a password is changed by a link', () => {
  it('from the request to the sign-in with the new one, with a notice', async () => {
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
    const token = await askForLink(portal, 'alice');
    await portal.send({ url: `/portal/forgottenChange?hash=${token}` });
    await changeTo(portal, token, 'lanternq');
    expect(await isAlive(session)).toBe(true);
    expect(await landingOfSignIn('alice', testPassword)).toBe(inside);
  });

  it('PR-18 ends sessions, other links, known browsers and waits of that user only', async () => {
    const browser = cookiesOf(await portal.signIn('alice', testPassword));
    const elsewhere = cookiesOf(await portal.signIn('alice', testPassword, { from: '203.0.113.5' }));
    const ofBob = cookiesOf(await portal.signIn('bob', testPassword));
    const { account } = limits.throttle;
    for (const username of ['alice', 'bob'])
      for (let guess = 0; guess < account.freeFailures; guess += 1)
        await portal.signIn(username, `guess ${guess}`, { from: `192.0.2.${guess}` });
    await portal.signIn('alice', 'wrong', { cookies: browser });
    expect(await landingOfSignIn('alice', testPassword)).toBe(outside);
    const [other, token, linkOfBob] = [
      await linkFor(portal, 'alice'),
      await linkFor(portal, 'alice'),
      await linkFor(portal, 'bob'),
    ];
    expect((await changeTo(portal, token, newPassword, { cookies: browser })).headers.location).toBe(changedPage);
    expect([await isAlive(browser), await isAlive(elsewhere), await isAlive(ofBob)]).toEqual([false, false, true]);
    const alice = await userId(portal, 'alice');
    expect(await portal.sql`select from device where user_id = ${alice}`).toHaveLength(0);
    expect(await portal.sql`select key from throttle where key like ${`%${alice}%`}`).toEqual([]);
    expect((await changeTo(portal, other, 'Another-Harbour-78')).headers.location).toBe(failedPage(3));
    expect(await landingOfSignIn('alice', newPassword)).toBe(inside);
    expect(await landingOfSignIn('bob', testPassword)).toBe(outside);
    expect(await landingOfSignIn('bob', testPassword, { cookies: ofBob })).toBe(inside);
    expect((await changeTo(portal, linkOfBob, newPassword)).headers.location).toBe(changedPage);
  });

  it('PR-18 a half-signed-in session ends', async () => {
    await addCustomer(portal, 'careful', { twoFactor: 'email' });
    await addUser(portal, { username: 'frida', customers: ['careful'] });
    const half = cookiesOf(await portal.signIn('frida', testPassword));
    expect(Object.keys(half)).toEqual(['vestibule-session', 'vestibule-refusal']);
    expect((await changeTo(portal, await linkFor(portal, 'frida'), newPassword)).headers.location).toBe(changedPage);
    expect(await portal.sql`select from session`).toHaveLength(0);
  });

  it.each(['app', 'email'] as const)(
    'PR-20 signs nobody in: the second factor by %s is still required',
    async (twoFactor) => {
      await addCustomer(portal, 'careful', { twoFactor });
      await addUser(portal, { username: 'frida', customers: ['careful'] });
      const before = (await portal.signIn('frida', testPassword)).headers.location;
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

  it('PW-15 two users with one password have different, unrelated hashes', async () => {
    for (const username of ['alice', 'bob']) await changeTo(portal, await linkFor(portal, username), newPassword);
    const [ofAlice, ofBob] = [await storedHash(portal, 'alice'), await storedHash(portal, 'bob')];
    expect(ofAlice).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(ofAlice).not.toBe(ofBob);
    // Anyone who can write to the database can sign in (docs/security.md); a copied hash only opens its new row.
    await changeTo(portal, await linkFor(portal, 'bob'), 'Another-Harbour-78');
    await portal.sql`update portal_user set password_hash = ${await storedHash(portal, 'bob')} where username = 'alice'`;
    expect(await landingOfSignIn('alice', 'Another-Harbour-78')).toBe(inside);
  });
});
