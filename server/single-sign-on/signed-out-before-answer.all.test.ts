import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { limits } from '#server/limits.ts';
import { addCustomer, addUser } from '#testing/accounts-for-test.ts';
import { emptyTables } from '#testing/empty-tables.ts';
import { startForgedProvider } from '#testing/forged-openid-provider.ts';
import { holdRows, untilWaiting } from '#testing/held-rows.ts';
import { poolOfFile } from '#testing/pool-of-file.ts';
import { cookiesOf, testPassword } from '#testing/portal-for-test.ts';
import { portalOfFile } from '#testing/portal-of-file.ts';
import { sharedByFile } from '#testing/shared-by-file.ts';
import { signedInAs } from '#testing/signed-in-as.ts';
import { addOidcConnection, type BrowserForTest, browserForTest, departFor, pathOf } from '#testing/sso-for-test.ts';

// What a browser sends before it has read the response to the end of a visit: it still has the cookies from before.

const portal = portalOfFile();
const pool = poolOfFile(portal);
const provider = sharedByFile(() => startForgedProvider(portal.deps));
beforeAll(async () => {
  await addCustomer(portal, 'acme');
  for (const username of ['alice', 'pat']) await addUser(portal, { username });
  await addOidcConnection(portal, provider);
});

let browser: BrowserForTest;
/** The end of a visit of Alice's, with a session of hers in the browser. */
let finish: string;
beforeEach(async () => {
  await emptyTables(portal, 'session', 'ended_session', 'signed_out_session', 'throttle', 'sso_request');
  browser = browserForTest(portal);
  as('alice@acme.test');
  await browser.post('/portal/performlogin', { username: 'alice', password: testPassword });
  finish = await finishOfVisit();
});

const as = (email: string) => provider.bend({ claims: (honest) => ({ ...honest, sub: email, email }) });
const finishOfVisit = async () =>
  String((await browser.open(pathOf(provider.visit(await departFor(browser))))).headers.location);
/** Sends a request whose response the browser reads later, if at all. */
const sendOnly = async (url: string) => {
  const cookies = { ...browser.cookies };
  const answer = await portal.send({ url, cookies });
  const set = answer.cookies.map(({ name, value }) => [name, value] as const);
  return { to: String(answer.headers.location), cookies: { ...cookies, ...Object.fromEntries(set) } };
};

it('SE-09 a sign-out sent before the response to the end of a visit arrives ends the session that it began', async () => {
  const late = await sendOnly(finish);
  expect(await signedInAs(portal, late.cookies)).toBe('alice');
  const before = { ...browser.cookies };
  await browser.post('/portal/logout', {});
  expect(await signedInAs(portal, late.cookies)).toBeNull();
  expect(await portal.sql`select from session`).toHaveLength(0);
  // Nor is what came of the visit given again, to whichever cookies.
  for (const cookies of [before, late.cookies]) {
    const again = await portal.send({ url: finish, cookies });
    expect(again.cookies.find(({ name }) => name === 'vestibule-session')?.value || null).toBeNull();
  }
});

it('SE-09 also if the session before had ended by time, and its cookie was left', async () => {
  await portal.sql`delete from session`;
  const late = await sendOnly(finish);
  await browser.post('/portal/logout', {});
  expect(await signedInAs(portal, late.cookies)).toBeNull();
});

it('SE-09 also if it is answered while the session is being stored', async () => {
  const release = await holdRows(pool, (sql) => sql`select from sso_connection for update`);
  const finishing = sendOnly(finish);
  await untilWaiting(pool, 1);
  await browser.post('/portal/logout', {});
  await release();
  expect(await signedInAs(portal, (await finishing).cookies)).toBeNull();
  expect(await portal.sql`select from session`).toHaveLength(0);
});

it('the proof for the provider is not for whoever has the token that was replaced', async () => {
  const proofOf = async (cookies: Record<string, string>) => {
    const { body } = await portal.send({ method: 'POST', url: '/portal/logout', form: {}, cookies });
    return /id_token_hint/.test(body);
  };
  await sendOnly(finish);
  expect(await proofOf(browser.cookies)).toBe(false);
  await emptyTables(portal, 'signed_out_session', 'ended_session');
  const late = await sendOnly(await finishOfVisit());
  expect(await proofOf(late.cookies)).toBe(true);
});

it('SE-15 who has signed in by password meanwhile is asked first, also if they have not read the response', async () => {
  await portal.signIn('pat', testPassword, { cookies: browser.cookies });
  const answer = await sendOnly(finish);
  expect(answer.to).toContain('/portal/authenticate/other-account');
  expect((await browser.get('/portal/session')).statusCode).toBe(401);
  expect((await portal.sql`select username from session s join portal_user u on u.id = s.user_id`)[0]?.username).toBe(
    'pat',
  );
});

it('SE-15 also if they are signed in while the visit is being decided', async () => {
  const release = await holdRows(pool, (sql) => sql`select from sso_connection for update`);
  const finishing = sendOnly(finish);
  await untilWaiting(pool, 1);
  const pat = cookiesOf(await portal.signIn('pat', testPassword, { cookies: browser.cookies }));
  await release();
  const asked = await finishing;
  expect(asked.to).toContain('/portal/authenticate/other-account');
  expect(await signedInAs(portal, pat)).toBe('pat');
  // The sign-in ended the visits of this browser: whoever reads that response too has nothing to agree to.
  const id = new URL(asked.to, 'http://portal.test').searchParams.get('request') ?? '';
  const form = { request: id };
  const url = '/portal/authenticate/other-account';
  const done = await portal.send({ method: 'POST', url, form, cookies: { ...asked.cookies, ...pat } });
  expect(done.headers.location).toBe('/portal/singleSignOn?notice=signInExpired');
  expect([await signedInAs(portal, pat), await signedInAs(portal, cookiesOf(done))]).toEqual(['pat', null]);
});

it('whoever has a cookie of before does not learn later who has signed in since', async () => {
  await portal.signIn('pat', testPassword, { cookies: browser.cookies });
  portal.wait(limits.responseUnread);
  expect((await sendOnly(await finishOfVisit())).to).toBe('/portal/portal.html');
});

it('SE-15 a visit’s late response does not bring back the person before, once another one has signed in', async () => {
  const late = await sendOnly(finish);
  await browser.post('/portal/performlogin', { username: 'pat', password: testPassword });
  expect([await signedInAs(portal, late.cookies), await signedInAs(portal, browser.cookies)]).toEqual([null, 'pat']);
});

describe('without a session cookie, after a sign-out', () => {
  beforeEach(async () => {
    await browser.post('/portal/logout', {});
    finish = await finishOfVisit();
    expect(browser.cookies).not.toHaveProperty('vestibule-session');
  });

  it('SE-09 a sign-out sent before the response to the end of a visit arrives ends the session', async () => {
    const late = await sendOnly(finish);
    expect(await signedInAs(portal, late.cookies)).toBe('alice');
    await browser.post('/portal/logout', {});
    expect(await signedInAs(portal, late.cookies)).toBeNull();
  });

  it('SE-15 the late response does not bring back the person before', async () => {
    const late = await sendOnly(finish);
    await browser.post('/portal/performlogin', { username: 'pat', password: testPassword });
    expect([await signedInAs(portal, late.cookies), await signedInAs(portal, browser.cookies)]).toEqual([null, 'pat']);
  });

  it('SE-15 who has signed in by password meanwhile is asked first', async () => {
    await portal.signIn('pat', testPassword, { cookies: browser.cookies });
    expect((await sendOnly(finish)).to).toContain('/portal/authenticate/other-account');
  });
});
