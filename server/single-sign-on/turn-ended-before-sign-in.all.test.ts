import { beforeAll, beforeEach, expect, it } from 'vitest';
import { addCustomer, addUser } from '#testing/accounts-for-test.ts';
import { emptyTables } from '#testing/empty-tables.ts';
import { startForgedProvider } from '#testing/forged-openid-provider.ts';
import { testPassword } from '#testing/portal-for-test.ts';
import { portalOfFile } from '#testing/portal-of-file.ts';
import { sharedByFile } from '#testing/shared-by-file.ts';
import { signedInAs } from '#testing/signed-in-as.ts';
import {
  addOidcConnection,
  type BrowserForTest,
  browserForTest,
  departFor,
  followLeavePage,
  pathOf,
} from '#testing/sso-for-test.ts';

// A session that its provider ended, and then a sign-in with no page of ours in between that could tell the tabs.

const portal = portalOfFile();
const provider = sharedByFile(() => startForgedProvider(portal.deps));
beforeAll(async () => {
  await addCustomer(portal, 'acme');
  for (const username of ['alice', 'amy']) await addUser(portal, { username });
  await addOidcConnection(portal, provider);
});

const plan = { redirectURL: '/portal/plan-of-alice' };
let browser: BrowserForTest;
beforeEach(async () => {
  await emptyTables(portal, 'session', 'ended_session', 'signed_out_session', 'throttle', 'sso_request');
  browser = browserForTest(portal);
  as('alice');
  await browser.get(pathOf(provider.visit(await departFor(browser))));
});

const as = (username: string) =>
  provider.bend({
    claims: (honest) => ({ ...honest, sub: `subject of ${username}`, email: `${username}@acme.test` }),
  });
/** What a provider's logout leaves: the session is gone, and known to have been signed out. */
const endSession = async () => {
  await portal.sql`with gone as (delete from session returning *)
    insert into ended_session (token_hash, ends_at) select token_hash, ends_at from gone`;
};
const who = async () => await signedInAs(portal, browser.cookies);
const expectTurnOver = (visits = 0) => {
  expect(browser.cookies['vestibule-signed-out']).toMatch(/^[\w-]{43}$/);
  expect(Object.keys(browser.cookies).filter((name) => /visit|answer/.test(name))).toHaveLength(visits);
  expect(browser.cookies['vestibule-afresh']).toBeDefined();
};

it('SE-15 a visit that was open before does not end as the next person', async () => {
  const open = await departFor(browser, 'alice@acme.test', plan);
  await endSession();
  as('amy');
  const answer = await browser.get(pathOf(provider.visit(open)));
  expect(answer.headers.location).toBe('/portal/singleSignOn?notice=signInExpired');
  expectTurnOver();
  expect(await who()).toBeNull();
});

it('SE-15 nor if that response is lost', async () => {
  const open = await departFor(browser, 'alice@acme.test', plan);
  await endSession();
  as('amy');
  const finish = String((await browser.open(pathOf(provider.visit(open)))).headers.location);
  for (const get of [portal.send, ({ url }: { url: string }) => browser.get(url)])
    expect((await get({ url: finish, cookies: { ...browser.cookies } })).headers.location).toContain('signInExpired');
  expectTurnOver();
});

it('another site that opens the end of a visit ends no turn', async () => {
  await endSession();
  const before = { ...browser.cookies };
  for (const state of ['x', 'A'.repeat(43)]) await browser.get(`/portal/authenticate/oidc/finish?state=${state}`);
  expect(browser.cookies['vestibule-signed-out']).toBeUndefined();
  expect(browser.cookies['vestibule-session']).toBe(before['vestibule-session']);
});

it.each([
  [testPassword, '/portal/portal.html', 'amy'],
  ['wrong', '/portal/loginfail/default', null],
])('SE-15 a sign-in by password (%s) ends the turn first, and its visits', async (password, to, expected) => {
  await departFor(browser, 'alice@acme.test', plan);
  await endSession();
  const answer = await browser.post('/portal/performlogin', { username: 'amy', password, ...plan });
  expect(answer.headers.location).toBe(to);
  expectTurnOver();
  expect(await who()).toBe(expected);
});

it('SE-15 whoever leaves for a provider then is asked to sign in there afresh, and goes to a destination of their own', async () => {
  await departFor(browser, 'alice@acme.test', plan);
  await endSession();
  const url = await departFor(browser, 'amy@acme.test', plan);
  expect(new URL(url).searchParams.get('prompt')).toBe('login');
  expectTurnOver(1);
  as('amy');
  provider.bend({
    claims: (honest) => ({
      ...honest,
      sub: 'subject of amy',
      email: 'amy@acme.test',
      auth_time: Math.floor(portal.deps.now().getTime() / 1000),
    }),
  });
  const answer = await browser.get(pathOf(provider.visit(url)));
  expect([answer.headers.location, await who()]).toEqual(['/portal/portal.html', 'amy']);
});

it('SE-15 the page that leads on to the provider ends a visit whose turn is over', async () => {
  const form = { username: 'alice@acme.test', ...plan };
  const begun = await browser.post('/portal/authenticate/performSsoLogin', form);
  await endSession();
  const answer = await browser.get(String(begun.headers.location));
  expect(answer.headers.location).toBe('/portal/singleSignOn?notice=signInExpired');
  expectTurnOver();
  const next = await browser.post('/portal/authenticate/checkSsoLogin', {});
  expect(new URL(await followLeavePage(browser, next)).searchParams.get('prompt')).toBe('login');
});

it('SE-15 a question about an answer ends with the turn in which it was asked', async () => {
  as('amy');
  const asked = await browser.get(pathOf(provider.visit(await departFor(browser, 'alice@acme.test', plan))));
  const id = new URL(String(asked.headers.location), 'http://localhost').searchParams.get('request') ?? '';
  expect(asked.headers.location).toContain('/portal/authenticate/other-account');
  await endSession();
  const answer = await browser.post('/portal/authenticate/other-account', { request: id });
  expect(answer.headers.location).toBe('/portal/singleSignOn?notice=signInExpired');
  expectTurnOver();
  expect(await who()).toBeNull();
});

it('a session that ended by time ends no turn, and the visit leads on', async () => {
  const open = await departFor(browser, 'alice@acme.test', plan);
  await portal.sql`delete from session`;
  const answer = await browser.get(pathOf(provider.visit(open)));
  expect([answer.headers.location, await who()]).toEqual([plan.redirectURL, 'alice']);
  expect(browser.cookies['vestibule-signed-out']).toBeUndefined();
});
