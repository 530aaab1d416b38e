import { beforeEach, describe, expect, it } from 'vitest';
import { signedInAs } from '#test/support/accounts-for-test.ts';
import { cookiesOf, testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { changeTo, linkFor, newPassword } from '#test/support/reset-for-test.ts';
import { everyRow } from '#test/support/rows-for-test.ts';
import {
  type Browser,
  codeByMail,
  codeNow,
  giveApp,
  halfSession,
  signInWithApp,
  startTwoFactorAfresh,
  verify,
} from '#test/support/two-factor-for-test.ts';
import { resetTwoFactor } from '../accounts/act-on-user.ts';
import { changeUser } from '../accounts/users.ts';
import { tokenHash } from '../crypto/token.ts';
import { limits } from '../limits.ts';

/** Alice's browser, which is remembered, and since signed out. */
let remembered: Browser;
const portal = portalOfFile();
beforeEach(async () => {
  await startTwoFactorAfresh(portal);
  const cookies = await signInWithApp(portal, 'alice', await giveApp(portal, 'alice'), { query: '?remember=true' });
  remembered = { 'vestibule-remembered': cookies['vestibule-remembered'] ?? '' };
  await portal.sql`delete from session`;
});

const hub = '/portal/portal.html';

/** Where a right password leads in a browser, and the browser's cookies afterwards. */
async function signIn(cookies: Browser, more: { username?: string; from?: string; password?: string } = {}) {
  const { username = 'alice', password = testPassword } = more;
  const answer = await portal.signIn(username, password, { cookies, ...(more.from && { from: more.from }) });
  return { to: answer.headers.location?.split('?')[0], cookies: { ...cookies, ...cookiesOf(answer) } };
}
const asked = '/portal/twoFactor';

describe('a remembered device', () => {
  it('is not asked for a code again for thirty days, under one token', async () => {
    for (let use = 1; use <= 5; use += 1) {
      portal.wait(limits.rememberedDevice / 5 - 1);
      const next = await signIn(remembered);
      expect([next.to, await signedInAs(portal, next.cookies)]).toEqual([hub, 'alice']);
      expect(next.cookies).toMatchObject(remembered);
    }
    portal.wait(5);
    expect((await signIn(remembered)).to).toBe(asked);
  });

  it('becomes one by a right code with the option ticked, with and without JavaScript', async () => {
    const secret = await giveApp(portal, 'adam');
    const set = async (query: string) =>
      (await signInWithApp(portal, 'adam', secret, { query }))['vestibule-remembered'] !== undefined;
    for (const query of ['', '?remember=false', '?remember=on', '?remember', '?remember=1']) {
      expect([query, await set(query)]).toEqual([query, false]);
      portal.wait(60_000);
    }
    expect(await set('?remember=true&remember=false')).toBe(true);
    const wrong = await verify(portal, '000000', await halfSession(portal, 'adam'), { query: '?remember=true' });
    expect(cookiesOf(wrong)).toEqual({});
    expect(await portal.sql`select from remembered_device`).toHaveLength(2);
  });

  it('is known by a token that the browser keeps for thirty days and the database as a hash', async () => {
    const secret = await giveApp(portal, 'adam');
    const answer = await verify(portal, codeNow(portal, secret), await halfSession(portal, 'adam'), {
      query: '?remember=true',
    });
    const header = [answer.headers['set-cookie']].flat().find((text) => text?.includes('remembered'));
    expect(header).toMatch(/^vestibule-remembered=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=2592000$/);
    const token = cookiesOf(answer)['vestibule-remembered'] ?? '';
    const rows = await everyRow(portal);
    expect([rows.includes(token), rows.includes(tokenHash(token).toString('hex'))]).toEqual([false, true]);
  });

  it('still needs the right password, and a wrong one does not affect it', async () => {
    expect((await signIn(remembered, { password: 'wrong' })).to).toBe('/portal/loginfail/default');
    expect((await signIn(remembered)).to).toBe(hub);
  });

  it('of one user does not count for another, and is unchanged', async () => {
    await giveApp(portal, 'adam');
    expect((await signIn(remembered, { username: 'adam' })).to).toBe(asked);
    expect((await signIn(remembered, { username: 'bob' })).to).toBe('/portal/twoFactorRegistration');
    expect((await signIn(remembered)).to).toBe(hub);
  });

  it('is not recognized by a token that is cut, changed, doubled, or elsewhere', async () => {
    const token = remembered['vestibule-remembered'] ?? '';
    const twice = `vestibule-remembered=${token}; vestibule-remembered=${token}`;
    expect((await portal.signIn('alice', testPassword, { headers: { cookie: twice } })).headers.location).toContain(
      asked,
    );
    for (const held of [
      { 'vestibule-remembered': token.slice(0, 42) },
      { 'vestibule-remembered': token.toLowerCase() },
      { 'vestibule-device': token, 'vestibule-session': token },
    ] as Browser[])
      expect((await signIn(held)).to).toBe(asked);
    expect((await signIn(remembered)).to).toBe(hub);
  });

  it('is listed with its last use', async () => {
    portal.wait(60_000);
    await signIn(remembered, { from: '203.0.113.66' });
    expect(await portal.sql`select host(address) as address, last_used_at as at from remembered_device`).toEqual([
      { address: '203.0.113.66', at: portal.deps.now() },
    ]);
  });

  it('works for codes by email as well', async () => {
    const half = await halfSession(portal, 'bob');
    const cookies = cookiesOf(await verify(portal, await codeByMail(portal, 'bob'), half, { query: '?remember=true' }));
    portal.mails.length = 0;
    expect(
      (await signIn({ 'vestibule-remembered': cookies['vestibule-remembered'] ?? '' }, { username: 'bob' })).to,
    ).toBe(hub);
    portal.wait(1000);
    await portal.workOff();
    expect(portal.mails).toHaveLength(0);
    const [event] = await portal.sql`select event, steps from audit_event order by id desc limit 1`;
    expect(event?.event).toBe('signed-in');
    expect(event?.steps).toContainEqual({ step: 'second factor', outcome: 'remembered device' });
  });
});

describe('a device is not remembered any more', () => {
  it.each<[string, () => Promise<unknown>]>([
    [
      'another password by a link (PR-18)',
      async () => await changeTo(portal, await linkFor(portal, 'alice'), newPassword),
    ],
    [
      'another password by the operator',
      () => changeUser(portal.sql, 'alice', { passwordHash: 'x' }, portal.deps.now()),
    ],
    ['the second factor being reset', () => resetTwoFactor(portal.sql, 'alice', portal.deps.now())],
    ['the end of its time', async () => portal.wait(limits.rememberedDevice)],
  ])('after %s', async (_what, happens) => {
    expect(await portal.sql`select from remembered_device`).toHaveLength(1);
    await happens();
    const [{ hash } = { hash: '' }] = await portal.sql<
      { hash: string }[]
    >`select password_hash as hash from portal_user where username = 'pat'`;
    await portal.sql`update portal_user set password_hash = ${hash} where username = 'alice'`;
    const { headers } = await portal.signIn('alice', testPassword, { cookies: remembered });
    expect(headers.location).toMatch(/^\/portal\/twoFactor/);
  });
});
