import { beforeEach, describe, expect, it } from 'vitest';
import { addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { cookiesOf, testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import {
  askForLink,
  askForReset,
  changedPage,
  changeTo,
  failedPage,
  hiddenHash,
  hiddenUsername,
  invitationFor,
  invite,
  linkFor,
  newPassword,
  startAfresh,
  storedHash,
  tokenIn,
  userId,
} from '#test/support/reset-for-test.ts';
import { changeUser } from '../accounts/users.ts';
import { limits } from '../limits.ts';

const second = 1000;
const another = 'Another-Harbour-78';

const portal = portalOfFile({ each: startAfresh });
beforeEach(() => addUser(portal, { username: 'grace', passwordHash: null }));

const open = (token: string, method: 'GET' | 'HEAD' = 'GET') =>
  portal.send({ method, url: `/portal/forgottenChange?hash=${token}` });
const landing = async (token: string, password = newPassword) =>
  (await changeTo(portal, token, password)).headers.location;
const change = (name: string, what: Parameters<typeof changeUser>[2]) =>
  changeUser(portal.sql, name, what, portal.by());

const resetLink = {
  of: 'a reset',
  name: 'alice',
  lifetime: limits.resetLink,
  done: changedPage,
  used: changedPage,
  failed: failedPage,
  make: () => askForLink(portal, 'alice'),
  queue: () => askForReset(portal, 'alice@acme.test'),
};
const invitation: Omit<typeof resetLink, 'queue'> & { queue: () => Promise<unknown> } = {
  of: 'an invitation',
  name: 'grace',
  lifetime: limits.invitation,
  done: '/portal/portal.html',
  used: `${changedPage}?invited=true`,
  failed: (reason) => `${failedPage(reason)}&invited=true`,
  make: () => invitationFor(portal, 'grace'),
  queue: () => invite(portal, 'grace'),
};

describe.each([resetLink, invitation])('a link of $of', ({ name, lifetime, done, used, failed, make, queue }) => {
  it('PR-02 works once, then says that it was used, and leads to a sign-in with the name filled in', async () => {
    const token = await make();
    expect(await landing(token)).toBe(done);
    expect([await landing(token), await landing(token, another)]).toEqual([failed(3), failed(3)]);
    expect((await portal.signIn(name, newPassword)).headers.location).toBe('/portal/portal.html');
    portal.wait(lifetime);
    const again = await open(token);
    expect([again.statusCode, again.headers.location]).toEqual([302, used]);
    expect(hiddenUsername(await portal.send({ url: '/portal/login', cookies: cookiesOf(again) }))).toBe(name);
  });

  it.each([
    [-second, true],
    [0, false],
  ])(
    'PR-04 is valid for its time after its email left, however long that waited: %i ms beside it',
    async (by, isValid) => {
      await queue();
      portal.wait(20 * 60 * 60 * second);
      await portal.workOff();
      const token = tokenIn(portal.mails[0]);
      portal.wait(lifetime + by);
      expect((await open(token)).headers.location).toBe(isValid ? undefined : failed(3));
      expect(await landing(token)).toBe(isValid ? done : failed(3));
    },
  );

  it('PR-05 PR-18 is replaced by the next one, sent or not, and by nobody else’s', async () => {
    const ofBob = await linkFor(portal, 'bob');
    const older = await make();
    const newest = await make();
    expect([await landing(older), (await open(older)).headers.location]).toEqual([failed(3), failed(3)]);
    expect(await landing(newest, another)).toBe(done);
    expect(await landing(ofBob)).toBe(changedPage);
  });

  it('PR-15 is not used up by viewing it: HEAD and GET, twice each', async () => {
    const token = await make();
    for (let n = 0; n < 2; n += 1) {
      const [head, get] = [await open(token, 'HEAD'), await open(token)];
      expect([head.statusCode, head.body, get.statusCode]).toEqual([200, '', 200]);
      expect([hiddenHash(get), hiddenUsername(get), get.headers['referrer-policy']]).toEqual([
        token,
        name,
        'strict-origin',
      ]);
    }
    expect(await landing(token)).toBe(done);
  });

  it('PR-23 ends with the address that it was sent to, and survives any other change', async () => {
    const token = await make();
    await change(name, { language: 'de' });
    await change(name, { active: false });
    expect(await landing(token)).toBe(failed(7));
    await change(name, { active: true, username: 'renamed' });
    expect(hiddenUsername(await open(token))).toBe('renamed');
    await change('renamed', { email: 'other@acme.test' });
    expect([(await open(token)).headers.location, await landing(token)]).toEqual([failed(3), failed(3)]);
  });
});

describe('the cookie of a form without script', () => {
  /** As in production, behind https. */
  const secure = portalOfFile({ env: { PUBLIC_URL: 'https://portal.example' }, each: startAfresh });
  const name = '__Host-vestibule-reset';
  const attributes = 'Path=/; HttpOnly; SameSite=Lax; Secure';
  const resetCookieOf = ({ headers }: Awaited<ReturnType<typeof changeTo>>) =>
    [headers['set-cookie'] ?? []].flat().filter((header) => header.startsWith(name));
  const form = (cookie: string, search = '') =>
    secure.send({ url: `/portal/forgottenChange${search}`, headers: { cookie } });

  it('CK-01 keeps the hash for ten minutes, for this host, hidden from scripts; the failure page leads back by it', async () => {
    const token = await linkFor(secure, 'alice');
    const refused = await changeTo(secure, token, newPassword, { repeat: 'x' });
    const seconds = limits.resetCookieLifetime / 1000;
    expect(resetCookieOf(refused)).toEqual([`${name}=${token}; ${attributes}; Max-Age=${seconds}`]);
    const headers = { cookie: `${name}=${token}` };
    const failure = await secure.send({ url: refused.headers.location as string, headers });
    expect(failure.body).toContain('href="/portal/forgottenChange');
    expect(failure.body + refused.headers.location).not.toContain(token);
    const page = await form(headers.cookie);
    expect([hiddenHash(page), hiddenUsername(page), page.headers['cache-control']]).toEqual([
      token,
      'alice',
      'no-store',
    ]);
    expect(page.body).toContain('>For the account alice<');
    const changed = await changeTo(secure, hiddenHash(page) ?? '', newPassword);
    expect(changed.headers.location).toBe(changedPage);
    expect(resetCookieOf(changed)).toEqual([`${name}=; ${attributes}; Max-Age=0`]);
  });
});

const isAlive = async (cookies: Record<string, string>) =>
  (await portal.send({ url: '/portal/session', cookies })).statusCode === 200;
const landingOfSignIn = async (username: string, password: string, more = {}) =>
  (await portal.signIn(username, password, more)).headers.location;
const inside = '/portal/portal.html';

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
    [
      'another by an operator',
      async () => (await change('alice', { passwordHash: 'another hash' })).kind,
      'changed',
      1,
    ],
    ['none by an operator', async () => (await change('alice', { passwordHash: null })).kind, 'changed', 1],
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

describe('a password is changed by a link', () => {
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
