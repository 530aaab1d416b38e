import { beforeAll, beforeEach, expect, it } from 'vitest';
import { limits } from '#server/limits.ts';
import { addCustomer, addUser } from '#testing/accounts-for-test.ts';
import { emptyTables } from '#testing/empty-tables.ts';
import { testPassword } from '#testing/portal-for-test.ts';
import { portalOfFile } from '#testing/portal-of-file.ts';
import { signedInAs } from '#testing/signed-in-as.ts';
import { type BrowserForTest, browserForTest, keepCookies } from '#testing/sso-for-test.ts';

// A browser where somebody has signed out has no session cookie. What it sends before it reads the response to the next
// sign-in is known by the marks of its turns.

const portal = portalOfFile();
beforeAll(async () => {
  await addCustomer(portal, 'acme');
  for (const username of ['alice', 'pat']) await addUser(portal, { username });
});

let browser: BrowserForTest;
beforeEach(async () => {
  await emptyTables(portal, 'session', 'ended_session', 'signed_out_session', 'throttle', 'audit_event');
  browser = browserForTest(portal);
  await browser.post('/portal/performlogin', { username: 'alice', password: testPassword });
  await browser.post('/portal/logout', {});
  expect(browser.cookies).not.toHaveProperty('vestibule-session');
});

const signIn = (username: string, more: { from?: string; headers?: Record<string, string> } = {}) =>
  portal.signIn(username, testPassword, { cookies: { ...browser.cookies }, ...more });

it.each([
  ['POST', 'text/html'],
  ['GET', '*/*'],
] as const)(
  'SE-09 a sign-out (%s, %s) sent before the response to a sign-in ends the session',
  async (method, accept) => {
    const late = await signIn('alice');
    const marks = browser.cookies['vestibule-signed-out'];
    const out = await browser.open('/portal/logout', { method, headers: { accept, 'sec-fetch-site': 'same-origin' } });
    expect(out.statusCode).toBe(method === 'POST' ? 303 : 204);
    expect(browser.cookies['vestibule-signed-out']).not.toBe(marks);
    expect(browser.cookies).toHaveProperty('vestibule-afresh');
    keepCookies(browser, late);
    expect(await signedInAs(portal, browser.cookies)).toBeNull();
    const events = await portal.sql`select event from audit_event order by id`;
    expect(events.map(({ event }) => event)).toEqual(['signed-in', 'signed-out', 'signed-in', 'signed-out']);
  },
);

it('SE-15 a late response does not bring back the person before, once another one has signed in', async () => {
  const late = await signIn('alice');
  keepCookies(browser, await signIn('pat'));
  expect(await signedInAs(portal, browser.cookies)).toBe('pat');
  keepCookies(browser, late);
  expect(await signedInAs(portal, browser.cookies)).toBeNull();
});

it('SE-09 the marks end nothing from another address, in another browser, or once the response has arrived', async () => {
  for (const more of [{ from: '203.0.113.9' }, { headers: { 'user-agent': 'other' } }]) {
    const late = await signIn('alice');
    const cookies = { ...browser.cookies };
    await portal.signIn('pat', testPassword, { cookies, ...more });
    await portal.send({ method: 'POST', url: '/portal/logout', form: {}, cookies, ...more });
    const alice = { ...browser, cookies: { ...cookies } };
    keepCookies(alice, late);
    expect((await portal.send({ url: '/portal/session', cookies: alice.cookies })).statusCode).toBe(200);
    await emptyTables(portal, 'session');
  }
  const cookies = { ...browser.cookies };
  keepCookies(browser, await signIn('alice'));
  portal.wait(limits.responseUnread);
  await portal.send({ method: 'POST', url: '/portal/logout', form: {}, cookies });
  await portal.signIn('pat', testPassword, { cookies });
  expect(await signedInAs(portal, browser.cookies)).toBe('alice');
});

it('two new browsers have nothing in common', async () => {
  const alice = browserForTest(portal);
  await alice.post('/portal/performlogin', { username: 'alice', password: testPassword });
  await portal.send({ method: 'POST', url: '/portal/logout', form: {} });
  await portal.signIn('pat', testPassword);
  expect((await alice.get('/portal/session')).statusCode).toBe(200);
});
