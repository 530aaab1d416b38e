import { beforeEach, describe, expect, it } from 'vitest';
import { resetTwoFactor, unlockUser } from '#server/accounts/act-on-user.ts';
import { limits } from '#server/limits.ts';
import { addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { emptyDatabase } from '#test/support/rows-for-test.ts';
import { addSamlConnection, samlProviderOfFile, signInBySaml } from '#test/support/saml-for-test.ts';
import { type BrowserForTest, browserForTest } from '#test/support/sso-for-test.ts';
import {
  codeByMail,
  codeNow,
  giveApp,
  pageOf,
  verdict,
  verify,
  wrongCodes,
} from '#test/support/two-factor-for-test.ts';

const portal = portalOfFile();
const evil = samlProviderOfFile(portal, 'idp.evil.test');
const honest = samlProviderOfFile(portal, 'idp.honest.test');
beforeEach(async () => {
  await emptyDatabase(portal);
  portal.mails.length = 0;
  for (const key of ['evil', 'honest']) await addCustomer(portal, key, { twoFactor: 'app' });
  await addUser(portal, { username: 'uma', customers: ['evil', 'honest'] });
  for (const [key, provider] of Object.entries({ evil, honest })) {
    const id = await addSamlConnection(portal, provider, { key, customerKey: key, domains: [`${key}.test`] });
    await portal.sql`insert into sso_subject select ${id}, 'uma', id, now() from portal_user where username = 'uma'`;
  }
});

const { freeFailures } = limits.throttle.code;
const demand = (twoFactor: string) => portal.sql`update customer set two_factor = ${twoFactor}`;

/** A connection, or the password. */
type By = 'evil' | 'honest' | 'password';

/** Signs in as uma, up to the second factor if one is required. */
async function signIn(by: By, browser = browserForTest(portal)): Promise<BrowserForTest> {
  if (by === 'password') await browser.post('/portal/performlogin', { username: 'uma', password: testPassword });
  else {
    const provider = by === 'evil' ? evil : honest;
    await signInBySaml(portal, provider, browser, { email: `uma@${by}.test`, nameId: 'uma' });
  }
  return browser;
}

/** Enters wrong codes, five per half session, until one is not checked; returns how many were. */
async function guess(by: By, secret: string): Promise<number> {
  for (let looked = 0; looked < 100; ) {
    const { cookies } = await signIn(by);
    for (const code of wrongCodes(portal, secret, limits.codeTries)) {
      if ((await verify(portal, code, cookies)).statusCode === 429) return looked;
      looked += 1;
    }
  }
  throw new Error('nobody stops this');
}

const isRight = async (by: By, secret: string, steps = 0) =>
  verdict(await verify(portal, codeNow(portal, secret, steps), (await signIn(by)).cookies));

describe('codes of an account with several ways in', () => {
  it('BF-11 wrong ones after one provider lock no other way in, and a right one resets only its own count', async () => {
    const secret = await giveApp(portal, 'uma');
    expect(await guess('evil', secret)).toBe(freeFailures);
    expect(await isRight('password', secret)).toBe(true);
    expect(await isRight('honest', secret, 1)).toBe(true);
    expect(await isRight('evil', secret, 1)).toEqual([429, null]);
  });

  it('BF-11 each way has ten attempts over all half sessions, until an operator ends the waits', async () => {
    for (const end of [unlockUser, resetTwoFactor]) {
      const secret = await giveApp(portal, 'uma');
      for (const count of [freeFailures, 0])
        for (const by of ['password', 'evil'] as const) expect(await guess(by, secret)).toBe(count);
      await end(portal.sql, 'uma', portal.deps.now());
      expect(await portal.sql`select key from throttle where key like 'code:%'`).toEqual([]);
      await portal.sql`delete from totp`;
    }
  });

  it('LG-05 every event of a code names the connection and the customer, also of one that is not checked', async () => {
    const secret = await giveApp(portal, 'uma');
    await guess('evil', secret);
    await isRight('evil', secret);
    const ofCodes = async (event: string) =>
      await portal.sql`select connection, customer_key, username from audit_event where event = ${event}`;
    const row = { connection: 'evil', customer_key: 'evil', username: 'uma' };
    expect(await ofCodes('code-refused')).toEqual(Array(freeFailures).fill(row));
    expect(await ofCodes('second-factor-ended')).toEqual(Array(freeFailures / limits.codeTries).fill(row));
    expect(await ofCodes('code-throttled')).toEqual([row]);
  });

  it('BF-11 emails with a code that one provider causes block none for the password or another provider', async () => {
    await demand('email');
    const isWaiting = async ({ cookies }: BrowserForTest) => {
      const asked = '/portal/twoFactor?codeSentViaEmail=true';
      const url = String((await portal.send({ url: asked, cookies })).headers.location ?? asked);
      return (await pageOf(portal, { url, cookies })).secondFactor?.isCodeNotSent ?? false;
    };
    let sent = 0;
    for (; sent < 100; sent += 1) {
      const browser = await signIn('evil');
      portal.wait(1000);
      if (await isWaiting(browser)) break;
    }
    expect(sent).toBe(freeFailures);
    expect(await isWaiting(await signIn('honest'))).toBe(false);
    const own = await signIn('password');
    expect(verdict(await verify(portal, await codeByMail(portal, 'uma'), own.cookies))).toBe(true);
  });
});

describe('a browser that is known only through a provider', () => {
  beforeEach(() => demand('off'));
  const deviceOf = ({ cookies }: BrowserForTest) => ({ 'vestibule-device': cookies['vestibule-device'] ?? '' });

  it('BF-01 has no attempts of its own, until its first password, which makes it known by a new token', async () => {
    const known = await signIn('evil');
    const before = deviceOf(known);
    await signIn('password', known);
    expect(deviceOf(known)).not.toEqual(before);
    const browsers = [await signIn('evil'), await signIn('evil'), browserForTest(portal)];
    for (const [at, browser] of browsers.entries())
      for (let n = 0; n < 5; n += 1)
        await portal.signIn('uma', `guess ${at} ${n}`, { cookies: deviceOf(browser), from: `192.0.2.${at + 1}` });
    const looked =
      await portal.sql`select from audit_event where event = 'sign-in-refused' and reason = 'wrong-password'`;
    expect(looked).toHaveLength(limits.throttle.account.freeFailures);
    const leadsTo = async (cookies: Record<string, string>) =>
      (await portal.signIn('uma', testPassword, { cookies })).headers.location;
    expect(await leadsTo(before)).not.toBe('/portal/portal.html');
    expect(await leadsTo(deviceOf(known))).toBe('/portal/portal.html');
  });

  it('gets the mail of a new browser, and another one at its first password; not the other way round', async () => {
    await portal.sql`update customer set new_device_mail = true`;
    const mails = async () => {
      await portal.workOff();
      return portal.mails.filter(({ subject }) => subject.startsWith('New sign-in')).length;
    };
    for (const [ways, counts] of [
      [
        ['evil', 'password', 'evil', 'password'],
        [1, 2, 2, 2],
      ],
      [
        ['password', 'evil', 'password'],
        [1, 1, 1],
      ],
    ] as const) {
      portal.mails.length = 0;
      const browser = browserForTest(portal);
      for (const [at, by] of ways.entries()) {
        await signIn(by, browser);
        expect([at, await mails()]).toEqual([at, counts[at]]);
        delete browser.cookies['vestibule-session'];
      }
    }
  });
});
