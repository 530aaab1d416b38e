import type { Response } from 'light-my-request';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { limits } from '#server/limits.ts';
import { addAttackFixtures, addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { cookiesOf, testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';

const { account, address, device } = limits.throttle;

const portal = portalOfFile();
beforeAll(async () => {
  await addAttackFixtures(portal);
  await addCustomer(portal, 'careful', { twoFactor: 'app' });
  await addUser(portal, { username: 'frida', customers: ['careful'] });
});
beforeEach(async () => {
  await portal.sql`delete from throttle`;
});

type Cookies = Record<string, string>;

const isIn = (answer: Response) => answer.statusCode === 303 && 'vestibule-session' in cookiesOf(answer);
const enters = async (username: string, cookies: Cookies = {}) =>
  isIn(await portal.signIn(username, testPassword, { cookies }));

/** The device cookie of a browser that signed in. */
async function knownBrowser(username: string, cookies: Cookies = {}): Promise<Cookies> {
  const { 'vestibule-device': token = '' } = cookiesOf(await portal.signIn(username, testPassword, { cookies }));
  expect(token).toMatch(/^[\w-]{43}$/);
  return { 'vestibule-device': token };
}

async function guess(username: string, times: number, cookies: Cookies = {}): Promise<void> {
  for (let n = 0; n < times; n += 1)
    await portal.signIn(username, `guess ${n} ${Math.random()}`, { cookies, from: `192.0.2.${n}` });
}

it('BF-01 a browser that signed in before is not locked out by others’ guesses, from wherever they come', async () => {
  const cookies = await knownBrowser('alice');
  await guess('alice', account.freeFailures + 3);
  expect([await enters('alice'), await enters('alice', cookies)]).toEqual([false, true]);
  const waitUntil = new Date(portal.deps.now().getTime() + address.longestWait);
  await portal.sql`
    insert into throttle (key, failures, changed_at, blocked_until, admitted)
    select key, 99999, ${portal.deps.now()}, ${waitUntil}, true
    from unnest(array['address:198.51.100.7', 'total']) key
    on conflict (key) do update set blocked_until = excluded.blocked_until`;
  expect((await portal.signIn('alice', testPassword)).statusCode).toBe(429);
  expect(await enters('alice', cookies)).toBe(true);
});

it('its own guesses have their own limit and do not affect the account', async () => {
  const cookies = await knownBrowser('alice');
  await guess('alice', device.freeFailures, cookies);
  expect(await enters('alice', cookies)).toBe(false);
  expect(await portal.sql`select reason from audit_event order by id desc limit 1`).toEqual([
    { reason: 'throttled-device' },
  ]);
  expect(await enters('alice')).toBe(true);
  portal.wait(device.firstWait);
  expect(await enters('alice', cookies)).toBe(true);
  expect(await portal.sql`select key from throttle where key like 'device:%'`).toEqual([]);
});

it('CK-04 a planted device cookie does not make the victim’s browser known; a browser keeps its own', async () => {
  for (const planted of [await knownBrowser('bob'), { 'vestibule-device': 'B'.repeat(43) }]) {
    const victim = await knownBrowser('alice', planted);
    expect(victim).not.toEqual(planted);
    expect(await knownBrowser('alice', victim)).toEqual(victim);
    await guess('alice', account.freeFailures);
    expect([await enters('alice', planted), await enters('alice', victim)]).toEqual([false, true]);
    await portal.sql`delete from throttle`;
  }
});

it('CK-05 a password without its second factor makes no browser known and leaves no long-lived cookie', async () => {
  const answer = await portal.signIn('frida', testPassword);
  // The typed name is kept for ten minutes, in case the form is shown again; the session ends with the browser.
  expect(answer.cookies.map(({ name, maxAge }) => [name, maxAge])).toEqual([
    ['vestibule-session', undefined],
    ['vestibule-next-page', limits.nextPageLifetime / 1000],
  ]);
  expect(
    await portal.sql`select from device d join portal_user u on u.id = d.user_id where u.username = 'frida'`,
  ).toHaveLength(0);
});

describe('the email about a new browser', () => {
  const firefox = { 'user-agent': 'Mozilla/5.0 (Windows NT 10.0; rv:143.0) Gecko/20100101 Firefox/143.0' };

  async function mailsAfter(...signIns: Parameters<typeof portal.signIn>[]): Promise<string[]> {
    portal.mails.length = 0;
    for (const signIn of signIns) await portal.signIn(...signIn);
    await portal.workOff();
    return portal.mails.map(({ recipient }) => recipient);
  }

  it('is sent once per browser, only if a customer wants it, and not about a refused sign-in', async () => {
    expect(await mailsAfter(['bob', testPassword])).toEqual([]);
    await portal.sql`update customer set new_device_mail = true`;
    const cookies = await knownBrowser('bob');
    await portal.workOff();
    expect(await mailsAfter(['bob', testPassword, { cookies }])).toEqual([]);
    expect(await mailsAfter(['bob', testPassword, { headers: firefox }])).toEqual(['bob@acme.test']);
    expect(portal.mails[0]?.text).toContain('Firefox, Windows');
    expect(portal.mails[0]?.text).toContain('198.51.100.7');
    expect(await mailsAfter(['bob', 'wrong'], ['dave', testPassword], ['carol', testPassword])).toEqual([]);
  });
});
