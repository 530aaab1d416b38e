import { beforeEach, describe, expect, it } from 'vitest';
import { addCustomer, addUser, signedInAs } from '#test/support/accounts-for-test.ts';
import { cookiesOf, testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { changeTo, linkFor, newPassword } from '#test/support/reset-for-test.ts';
import {
  type Browser,
  codeByMail,
  codeNow,
  giveApp,
  halfSession,
  pageOf,
  startTwoFactorAfresh,
  verify,
} from '#test/support/two-factor-for-test.ts';
import { resetTwoFactor } from '../accounts/reset-two-factor.ts';
import { changeUser } from '../accounts/users.ts';
import { limits } from '../limits.ts';

const portal = portalOfFile();
let secret: string;
beforeEach(async () => {
  await startTwoFactorAfresh(portal);
  await addCustomer(portal, 'inner', { twoFactor: 'app', networks: ['203.0.113.0/24'] });
  await addUser(portal, { username: 'both', customers: ['mail', 'inner'] });
  secret = await giveApp(portal, 'alice');
});

const [inside, outside] = ['203.0.113.5', '198.51.100.7'];
const hub = '/portal/portal.html';
const asked = '/portal/twoFactor';

/** The cookie of a browser that is remembered from now on by a right code. */
async function remembered(username: string, codeOf: () => Promise<string> | string): Promise<Browser> {
  const half = await halfSession(portal, username);
  const answer = await verify(portal, await codeOf(), half, { query: '?remember=true' });
  expect(answer.body).toBe('true');
  return { 'vestibule-remembered': cookiesOf(answer)['vestibule-remembered'] ?? '' };
}
const byApp = () => remembered('alice', () => codeNow(portal, secret));
const byEmail = (username: string) => remembered(username, () => codeByMail(portal, username));

/** Where a right password leads in a browser. */
async function landing(username: string, cookies: Browser, from = outside): Promise<string | undefined> {
  return (await portal.signIn(username, testPassword, { cookies, from })).headers.location?.split('?')[0];
}

describe('a remembered device', () => {
  it('is not asked for a code again for thirty days, under one token, and is listed with its last use', async () => {
    const held = await byApp();
    for (let use = 1; use <= 3; use += 1) {
      portal.wait(limits.rememberedDevice / 3 - 1);
      const answer = await portal.signIn('alice', testPassword, { cookies: held, from: '203.0.113.66' });
      expect([answer.headers.location, cookiesOf(answer)['vestibule-remembered']]).toEqual([hub, undefined]);
      expect(await signedInAs(portal, cookiesOf(answer))).toBe('alice');
    }
    expect(await portal.sql`select host(address) as address, last_used_at as at from remembered_device`).toEqual([
      { address: '203.0.113.66', at: portal.deps.now() },
    ]);
    portal.wait(3);
    expect(await landing('alice', held)).toBe(asked);
  });

  it('counts for its user alone, with the right password, and by its whole token', async () => {
    const held = await byApp();
    const token = held['vestibule-remembered'] ?? '';
    await giveApp(portal, 'adam');
    expect(await landing('adam', held)).toBe(asked);
    const wrong = await portal.signIn('alice', 'wrong', { cookies: held });
    expect(wrong.headers.location).toBe('/portal/loginfail/default');
    for (const other of [
      { 'vestibule-remembered': token.slice(0, 42) },
      { 'vestibule-remembered': token.toLowerCase() },
      { 'vestibule-device': token, 'vestibule-session': token },
    ] as Browser[])
      expect(await landing('alice', other)).toBe(asked);
    const headers = { cookie: `vestibule-remembered=${token}; vestibule-remembered=${token}` };
    expect((await portal.signIn('alice', testPassword, { headers })).headers.location).toContain(asked);
    expect(await landing('alice', held)).toBe(hub);
  });

  it.each<[string, () => Promise<unknown>]>([
    [
      'another password by a link (PR-18)',
      async () => await changeTo(portal, await linkFor(portal, 'alice'), newPassword),
    ],
    ['another password by the operator', () => changeUser(portal.sql, 'alice', { passwordHash: 'x' }, portal.by())],
    ['the second factor being reset', () => resetTwoFactor(portal.sql, 'alice', portal.by())],
  ])('is none any more after %s', async (_what, happens) => {
    await byApp();
    await happens();
    expect(await portal.sql`select from remembered_device`).toEqual([]);
  });
});

describe('MF-15 a device that is remembered by a code by email', () => {
  it('MF-15 skips such codes, but no app that another customer of the user requires', async () => {
    const held = await byEmail('both');
    portal.mails.length = 0;
    expect(await landing('both', held, outside)).toBe(hub);
    const [event] = await portal.sql`select event, steps from audit_event order by id desc limit 1`;
    expect(event?.steps).toContainEqual({ step: 'second factor', outcome: 'remembered device' });
    expect(await landing('both', held, inside)).toBe(asked);
    expect(await landing('both', held, outside), 'it stays what it was').toBe(hub);
  });

  it('MF-15 nor one that the customer has required since, nor the user’s own', async () => {
    const held = await byEmail('bob');
    await portal.sql`update customer set two_factor = 'app' where key = 'mail'`;
    expect(await landing('bob', held)).toBe(asked);
    await portal.sql`update customer set two_factor = 'email' where key = 'mail'`;
    expect(await landing('bob', held)).toBe(hub);
    await giveApp(portal, 'bob');
    expect(await landing('bob', held)).toBe(asked);
  });
});

describe('whether devices are remembered', () => {
  beforeEach(async () => {
    await addCustomer(portal, 'plain-strict');
    await portal.sql`update customer set remember_devices = false where key in ('inner', 'plain-strict')`;
  });

  it.each([
    ['app', outside, true],
    ['inner', inside, false],
    ['app inner', inside, false],
    ['app inner', outside, true],
    ['app plain-strict', outside, true],
    ['mail inner', inside, false],
    ['plain-strict', outside, true],
  ])(
    'is decided by the customers that require a factor and admit the address: %s, %s',
    async (customers, from, expected) => {
      await addUser(portal, { username: 'carl', customers: customers.split(' ') });
      const own = await giveApp(portal, 'carl');
      const cookies = await halfSession(portal, 'carl', { from });
      const page = await pageOf(portal, { url: '/portal/twoFactor', cookies, from });
      const answer = await verify(portal, codeNow(portal, own), cookies, { query: '?remember=true', from });
      expect([page.secondFactor?.mayRemember, 'vestibule-remembered' in cookiesOf(answer)]).toEqual([
        expected,
        expected,
      ]);
    },
  );
});
