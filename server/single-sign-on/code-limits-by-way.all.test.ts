import { beforeEach, describe, expect, it } from 'vitest';
import { resetTwoFactor, unlockUser } from '#server/accounts/act-on-user.ts';
import { limits } from '#server/limits.ts';
import { addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { emptyDatabase } from '#test/support/rows-for-test.ts';
import {
  addSamlConnection,
  postSamlAnswer,
  samlAnswer,
  samlProviderOfFile,
  samlRequestAt,
} from '#test/support/saml-for-test.ts';
import { type BrowserForTest, browserForTest, departFor } from '#test/support/sso-for-test.ts';
import {
  codeByMail,
  codeNow,
  giveApp,
  pageOf,
  registrationUrl,
  sendUrl,
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

type Way = 'evil' | 'honest' | 'password';

/** A browser that has reached the second factor. */
async function half(way: Way): Promise<BrowserForTest> {
  const browser = browserForTest(portal);
  if (way === 'password') {
    await browser.post('/portal/performlogin', { username: 'uma', password: testPassword });
    return browser;
  }
  const provider = way === 'evil' ? evil : honest;
  const request = samlRequestAt(await departFor(browser, `uma@${way}.test`));
  const answer = samlAnswer(portal, provider, request, { email: `uma@${way}.test`, nameId: 'uma' });
  await postSamlAnswer(portal, browser, answer);
  return browser;
}

/** Enters wrong codes, five per half session, until one is not checked; returns how many were. */
async function guess(way: Way, secret: string): Promise<number> {
  for (let looked = 0; looked < 100; ) {
    const { cookies } = await half(way);
    for (const code of wrongCodes(portal, secret, limits.codeTries)) {
      const { statusCode } = await verify(portal, code, cookies);
      if (statusCode === 429) return looked;
      expect(statusCode).toBe(200);
      looked += 1;
    }
  }
  throw new Error('nobody stops this');
}

const isRight = async (way: Way, secret: string, steps = 0) =>
  verdict(await verify(portal, codeNow(portal, secret, steps), (await half(way)).cookies));

describe('BF-11 codes of an account with several ways in', () => {
  it('BF-11 wrong codes after one provider lock no other way in', async () => {
    const secret = await giveApp(portal, 'uma');
    expect(await guess('evil', secret)).toBe(freeFailures);
    expect(await isRight('password', secret)).toBe(true);
    expect(await isRight('honest', secret, 1)).toBe(true);
    expect(await isRight('evil', secret, 1)).toEqual([429, null]);
  });

  it('LG-05 every event of a code names the way in and the customer, also of one that is not checked, once a minute', async () => {
    const secret = await giveApp(portal, 'uma');
    await guess('evil', secret);
    await isRight('evil', secret);
    const ofCodes = async (event: string) =>
      await portal.sql`select connection, customer_key, reason, username from audit_event where event = ${event}`;
    const way = { connection: 'evil', customer_key: 'evil', reason: null, username: 'uma' };
    expect(await ofCodes('code-refused')).toEqual(Array(freeFailures).fill(way));
    expect(await ofCodes('second-factor-ended')).toEqual(Array(freeFailures / limits.codeTries).fill(way));
    expect(await ofCodes('code-throttled')).toEqual([way]);
    expect(await isRight('password', secret)).toBe(true);
    const signedIn = { ...way, connection: null, customer_key: 'evil, honest' };
    expect(await ofCodes('signed-in')).toEqual([signedIn]);
  });

  it('BF-11 nor do wrong codes after the password lock out a provider', async () => {
    const secret = await giveApp(portal, 'uma');
    expect(await guess('password', secret)).toBe(freeFailures);
    expect(await isRight('password', secret)).toEqual([429, null]);
    expect(await isRight('evil', secret)).toBe(true);
  });

  it('BF-11 every way has exactly ten attempts over all half sessions, so the total is ten per way', async () => {
    const secret = await giveApp(portal, 'uma');
    for (const way of ['password', 'evil', 'honest'] as const)
      expect([way, await guess(way, secret)]).toEqual([way, 10]);
    for (const way of ['password', 'evil', 'honest'] as const)
      expect([way, await guess(way, secret)]).toEqual([way, 0]);
    expect(await portal.sql`select from throttle where key like 'code:%'`).toHaveLength(3);
  });

  it('BF-11 a right code resets only the count of its own way', async () => {
    const secret = await giveApp(portal, 'uma');
    expect(await guess('evil', secret)).toBe(freeFailures);
    expect(await isRight('password', secret)).toBe(true);
    expect(await guess('evil', secret)).toBe(0);
  });

  it('BF-11 the same holds for an app that is set up voluntarily', async () => {
    await portal.sql`update customer set two_factor = 'off'`;
    await portal.sql`update portal_user set password_hash = null`;
    await portal.sql`delete from membership where customer_id = (select id from customer where key = 'honest')`;
    const id = await addSamlConnection(portal, honest, {
      key: 'second',
      customerKey: 'evil',
      domains: ['second.test'],
    });
    await portal.sql`insert into sso_subject select ${id}, 'uma', id, now() from portal_user where username = 'uma'`;
    const { cookies } = await half('evil');
    const { totpSecret } = (await portal.send({ url: registrationUrl, cookies })).json<{ totpSecret: string }>();
    for (const code of wrongCodes(portal, totpSecret, 10)) await verify(portal, code, cookies);
    expect(verdict(await verify(portal, codeNow(portal, totpSecret), cookies))).toEqual([429, null]);
    const [row] = await portal.sql<{ key: string }[]>`select key from throttle where key like 'code:%'`;
    const [connection] = await portal.sql<{ id: string }[]>`select id from sso_connection where key = 'evil'`;
    expect(row?.key.endsWith(`:${connection?.id}`)).toBe(true);
  });

  it('an operator ends the waits of every way', async () => {
    for (const end of [unlockUser, resetTwoFactor]) {
      const secret = await giveApp(portal, 'uma');
      for (const way of ['password', 'evil'] as const) await guess(way, secret);
      await portal.sql`insert into throttle (key, failures, changed_at, admitted) values ('code:other:evil', 3, now(), true)`;
      await end(portal.sql, 'uma', portal.deps.now());
      expect(await portal.sql`select key from throttle where key like 'code:%'`).toEqual([{ key: 'code:other:evil' }]);
      await portal.sql`delete from totp`;
      await portal.sql`delete from throttle`;
    }
  });
});

describe('BF-11 mails with a code to an account with several ways in', () => {
  beforeEach(async () => {
    await portal.sql`update customer set two_factor = 'email'`;
  });

  const isWaiting = async ({ cookies }: BrowserForTest) =>
    (await pageOf(portal, { url: await pageOfHalf(cookies), cookies })).secondFactor?.isCodeNotSent ?? false;
  const pageOfHalf = async (cookies: BrowserForTest['cookies']) => {
    const asked = '/portal/twoFactor?codeSentViaEmail=true';
    return String((await portal.send({ url: asked, cookies })).headers.location ?? asked);
  };

  /** Starts half sessions, each with an email, until none is sent; returns how many were. */
  async function useUp(way: Way): Promise<number> {
    for (let sent = 0; sent < 100; sent += 1) {
      const browser = await half(way);
      portal.wait(1000);
      if (await isWaiting(browser)) return sent;
    }
    throw new Error('nobody stops this');
  }

  it('BF-11 emails caused by one provider block none for the password or another provider', async () => {
    expect(await useUp('evil')).toBe(limits.throttle.code.freeFailures);
    const other = await half('honest');
    expect(await isWaiting(other)).toBe(false);
    const own = await half('password');
    expect(await isWaiting(own)).toBe(false);
    expect(verdict(await verify(portal, await codeByMail(portal, 'uma'), own.cookies))).toBe(true);
    expect(await useUp('evil')).toBe(0);
  });

  it('BF-11 a code requested again counts for its way', async () => {
    const own = await half('password');
    await useUp('evil');
    portal.wait(limits.emailCodeSendEvery);
    const sent = await portal.send({
      method: 'POST',
      url: sendUrl,
      cookies: own.cookies,
      headers: { accept: 'application/json' },
    });
    expect(sent.statusCode).toBe(204);
    expect(await portal.sql`select from throttle where key like 'code-mail:%'`).toHaveLength(2);
    await unlockUser(portal.sql, 'uma', portal.deps.now());
    expect(await portal.sql`select from throttle where key like 'code-mail:%'`).toHaveLength(0);
  });

  it('a concurrent half session from a provider ends none that the password opened', async () => {
    const own = await half('password');
    await half('evil');
    expect(await portal.sql`select from session where stage = 'half'`).toHaveLength(2);
    await codeByMail(portal, 'uma');
    const codes = portal.mails.map(({ text }) => /#(\d{6})$/.exec(text)?.[1]);
    const verdicts = [];
    for (const code of codes) verdicts.push(verdict(await verify(portal, code, own.cookies)));
    expect(verdicts).toContain(true);
  });
});
