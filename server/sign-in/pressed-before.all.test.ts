import { Readable } from 'node:stream';
import type { Response } from 'light-my-request';
import { beforeEach, expect, it } from 'vitest';
import { addCustomer, addUser } from '#testing/accounts-for-test.ts';
import { emptyDatabase } from '#testing/empty-tables.ts';
import { startForgedProvider } from '#testing/forged-openid-provider.ts';
import { holdRows, untilWaiting } from '#testing/held-rows.ts';
import { assertionOf } from '#testing/passkey-for-test.ts';
import { challengeFor, givePasskey } from '#testing/passkey-sign-in-for-test.ts';
import { poolOfFile } from '#testing/pool-of-file.ts';
import { cookiesOf, testAddress, testPassword } from '#testing/portal-for-test.ts';
import { portalOfFile } from '#testing/portal-of-file.ts';
import { sharedByFile } from '#testing/shared-by-file.ts';
import { signedInAs } from '#testing/signed-in-as.ts';
import {
  addOidcConnection,
  type BrowserForTest,
  browserForTest,
  departFor,
  keepCookies,
  pathOf,
} from '#testing/sso-for-test.ts';
import { codeByMail, halfSession, verifyUrl } from '#testing/two-factor-for-test.ts';
import { tokenHash } from '../secrets/token.ts';

// Of the people at one browser the last to press remains, however long a form takes to arrive: a press counts from the
// beginning of its request (docs/decisions/0028).

const portal = portalOfFile();
const pool = poolOfFile(portal);
const provider = sharedByFile(() => startForgedProvider(portal.deps));
beforeEach(async () => {
  await emptyDatabase(portal);
  await addCustomer(portal, 'acme');
  for (const username of ['alice', 'bob', 'pat']) await addUser(portal, { username });
  await addOidcConnection(portal, provider);
});

/** Where Pat was before, with what is left of it. */
const cookieBefore = {
  no: async (browser: BrowserForTest) => void (await browser.post('/portal/logout', {})),
  dead: async () => void (await portal.sql`delete from session`),
  live: async () => {},
};
const cookies = Object.keys(cookieBefore) as (keyof typeof cookieBefore)[];

async function browserOfPat(cookie: keyof typeof cookieBefore): Promise<BrowserForTest> {
  const browser = browserForTest(portal);
  await browser.post('/portal/performlogin', { username: 'pat', password: testPassword });
  await cookieBefore[cookie](browser);
  return browser;
}

async function answerOfAlice(browser: BrowserForTest, said: object = {}): Promise<string> {
  const email = 'alice@acme.test';
  provider.bend({ claims: (honest) => ({ ...honest, sub: email, email, email_verified: true, ...said }) });
  return pathOf(provider.visit(await departFor(browser, email)));
}

/** Alice's forms. Those of her provider's answer ask whether it is she, as somebody has signed out there. */
const formOf = {
  password: async () => ({ url: '/portal/performlogin', form: { username: 'alice', password: testPassword } }),
  passkey: async (browser: BrowserForTest) => {
    const passkey = await givePasskey(portal, 'alice');
    const credential = assertionOf(passkey, { challenge: await challengeFor(browser) });
    return { url: '/portal/passkeys/sign-in', form: { credential } };
  },
  question: async (browser: BrowserForTest) => {
    const { location } = (await browser.get(await answerOfAlice(browser, { auth_time: 1 }))).headers;
    const url = '/portal/authenticate/other-account';
    expect(location).toContain(url);
    return { url, form: { request: String(location).slice(-36) } };
  },
};
const ways = (Object.keys(formOf) as (keyof typeof formOf)[]).flatMap((way) =>
  cookies.filter((cookie) => way !== 'question' || cookie === 'no').map((cookie) => [way, cookie] as const),
);

type Form = { url: string; form: Record<string, string> };

/** Sends the head of a form; the body is for later. */
async function headOf({ url, form }: Form, cookies: Record<string, string>): Promise<{ body(): Promise<Response> }> {
  const awaited = Promise.withResolvers<void>();
  const payload = new Readable({ read: () => awaited.resolve() });
  const cookie = Object.entries(cookies).map((pair) => pair.join('='));
  const { hosts, destinationRules } = portal.deps.config;
  const headers = {
    host: hosts[0] ?? '',
    accept: 'text/html',
    origin: destinationRules.origin,
    'sec-fetch-site': 'same-origin',
    'content-type': 'application/x-www-form-urlencoded',
    cookie: cookie.join('; '),
  };
  const request = { method: 'POST', url, remoteAddress: testAddress, headers, payload } as const;
  const answer = Promise.resolve(portal.app.inject(request));
  await awaited.promise;
  return {
    async body() {
      payload.push(new URLSearchParams(form).toString());
      payload.push(null);
      return await answer;
    },
  };
}

/** Sends a form of which the body comes after all this has happened. */
async function whileFormArrives(
  browser: BrowserForTest,
  form: Form,
  meanwhile: () => Promise<void>,
): Promise<Response> {
  const head = await headOf(form, browser.cookies);
  portal.wait(3000);
  await meanwhile();
  return await head.body();
}

const bobSignsIn = async (browser: BrowserForTest) => {
  await browser.post('/portal/performlogin', { username: 'bob', password: testPassword });
  expect(await signedInAs(portal, browser.cookies)).toBe('bob');
};

it.each(ways)('SE-15 by %s, with %s cookie: who has signed in since stays signed in', async (way, cookie) => {
  const browser = await browserOfPat(cookie);
  const form = await formOf[way](browser);
  const answer = await whileFormArrives(browser, form, () => bobSignsIn(browser));
  expect(await signedInAs(portal, browser.cookies)).toBe('bob');
  keepCookies(browser, answer);
  expect(await signedInAs(portal, browser.cookies)).not.toBe('alice');
});

it.each(ways)('SE-15 by %s, with %s cookie: nobody is signed in after a sign-out', async (way, cookie) => {
  const browser = await browserOfPat(cookie);
  const form = await formOf[way](browser);
  const answer = await whileFormArrives(browser, form, async () => {
    await bobSignsIn(browser);
    portal.wait(3000);
    await browser.post('/portal/logout', {});
  });
  keepCookies(browser, answer);
  expect(await signedInAs(portal, browser.cookies)).toBeNull();
  expect(await portal.sql`select from session`).toHaveLength(0);
});

it('SE-15 so it is if the end of a visit waits for its row', async () => {
  const browser = await browserOfPat('no');
  const end = String((await browser.open(await answerOfAlice(browser))).headers.location);
  const release = await holdRows(portal.sql, (sql) => sql`select from sso_request for update`);
  const late = portal.send({ url: end, cookies: { ...browser.cookies } });
  await untilWaiting(portal.sql, 1);
  portal.wait(3000);
  await bobSignsIn(browser);
  portal.wait(3000);
  await browser.post('/portal/logout', {});
  await release();
  keepCookies(browser, await late);
  expect(await signedInAs(portal, browser.cookies)).toBeNull();
});

it('SE-15 a code counts from then, too: who has pressed since, and is stored at the same moment, stays signed in', async () => {
  await addCustomer(portal, 'mail', { twoFactor: 'email' });
  await addUser(portal, { username: 'carol', customers: ['mail'] });
  const half = await halfSession(portal, 'carol');
  const code = await headOf({ url: verifyUrl, form: { code: await codeByMail(portal, 'carol') } }, half);
  portal.wait(3000);
  const password = await headOf(
    { url: '/portal/performlogin', form: { username: 'bob', password: testPassword } },
    half,
  );
  portal.wait(3000);
  const hash = tokenHash(half['vestibule-session'] as string);
  const release = await holdRows(pool, (sql) => sql`select from session where token_hash = ${hash} for key share`);
  const carol = code.body();
  await untilWaiting(pool, 1);
  const bob = password.body();
  await untilWaiting(pool, 2);
  await release();
  const [late, own] = [cookiesOf(await carol), cookiesOf(await bob)];
  expect([await signedInAs(portal, late), await signedInAs(portal, own)]).toEqual([null, 'bob']);
});

it.each(['password', 'passkey', 'question'] as const)(
  'SE-15 by %s, who has entered a code since stays signed in',
  async (way) => {
    const browser = await browserOfPat('no');
    await addCustomer(portal, 'mail', { twoFactor: 'email' });
    await addUser(portal, { username: 'carol', customers: ['mail'] });
    Object.assign(browser.cookies, await halfSession(portal, 'carol', { cookies: browser.cookies }));
    const form = await formOf[way](browser);
    const answer = await whileFormArrives(browser, form, async () => {
      await browser.post(verifyUrl, { code: await codeByMail(portal, 'carol') });
      expect(await signedInAs(portal, browser.cookies)).toBe('carol');
    });
    expect(await signedInAs(portal, browser.cookies)).toBe('carol');
    keepCookies(browser, answer);
    expect(await signedInAs(portal, browser.cookies)).not.toBe('alice');
  },
);
