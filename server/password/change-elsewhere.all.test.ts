import { beforeEach, expect, it } from 'vitest';
import { emptyTables } from '#testing/empty-tables.ts';
import { holdRows, untilWaiting } from '#testing/held-rows.ts';
import { cookiesOf, testPassword } from '#testing/portal-for-test.ts';
import { portalOfFile } from '#testing/portal-of-file.ts';
import { changedPage, failedPage, linkFor, newPassword, startAfresh } from '#testing/reset-for-test.ts';
import { signedInAs } from '#testing/signed-in-as.ts';
import { type BrowserForTest, browserForTest } from '#testing/sso-for-test.ts';

let browser: BrowserForTest;
const portal = portalOfFile();
beforeEach(async () => {
  await startAfresh(portal);
  await emptyTables(portal, 'signed_out_session');
  browser = browserForTest(portal);
  await browser.post('/portal/performlogin', { username: 'bob', password: testPassword });
});

const change = async (username: string, repeat = newPassword, headers: Record<string, string> = {}) => {
  const hash = await linkFor(portal, username);
  return await browser.post('/portal/password/change', { hash, password: newPassword, repeat }, { headers });
};
const events = async () =>
  await portal.sql`select event, username from audit_event where event in ('signed-out', 'password-changed') order by id`;

it('SE-15 a link that is used where somebody else is signed in leads to the form, not on as them', async () => {
  expect((await change('alice')).headers.location).toBe(changedPage);
  const { cookies } = browser;
  expect(Object.keys(cookies).sort()).toEqual([
    'vestibule-afresh',
    'vestibule-device',
    'vestibule-signed-in',
    'vestibule-signed-out',
  ]);
  expect((await browser.get('/portal/login')).statusCode).toBe(200);
  expect(await portal.sql`select from session`).toHaveLength(0);
  expect(await events()).toEqual([
    { event: 'password-changed', username: 'alice' },
    { event: 'signed-out', username: 'bob' },
  ]);
});

it('SE-15 only the session of that browser ends', async () => {
  const elsewhere = browserForTest(portal);
  await elsewhere.post('/portal/performlogin', { username: 'bob', password: testPassword });
  await change('alice');
  expect(await signedInAs(portal, elsewhere.cookies)).toBe('bob');
});

it('SE-15 where the person is signed in themselves it is a sign-out too', async () => {
  await change('bob');
  expect(browser.cookies).toHaveProperty('vestibule-signed-out');
  expect(browser.cookies).not.toHaveProperty('vestibule-session');
});

it('SE-15 the open visits of the other person end', async () => {
  browser.cookies['vestibule-visit-AAAAAAAA'] = 'v'.repeat(43);
  await change('alice');
  expect(browser.cookies).not.toHaveProperty('vestibule-visit-AAAAAAAA');
});

it('a second factor that is pending ends without being a sign-out', async () => {
  await portal.sql`update session set stage = 'half', factor = 'email'`;
  await change('alice');
  expect(browser.cookies).not.toHaveProperty('vestibule-session');
  expect(browser.cookies).not.toHaveProperty('vestibule-signed-out');
  expect(await portal.sql`select from session`).toHaveLength(0);
});

it('SE-15 a sign-in that the browser has not read yet ends too', async () => {
  await browser.post('/portal/logout', {});
  const before = { ...browser.cookies };
  const unread = cookiesOf(await portal.signIn('bob', testPassword, { cookies: before }));
  expect(await signedInAs(portal, unread)).toBe('bob');
  await change('alice');
  expect(await signedInAs(portal, unread)).toBeNull();
  expect(await portal.sql`select from session`).toHaveLength(0);
  expect(browser.cookies['vestibule-signed-out']).not.toBe(before['vestibule-signed-out']);
});

it('where nobody is signed in a change marks nothing, and the tab keeps its destination', async () => {
  browser.cookies = {};
  await change('alice');
  expect(browser.cookies).toEqual({});
});

it('a refused change ends no session', async () => {
  expect((await change('alice', 'x')).headers.location).toBe(failedPage(5));
  expect(await signedInAs(portal, browser.cookies)).toBe('bob');
});

it.each<[string, Record<string, string>]>([
  ['another site', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }],
  ['a sister host', { 'sec-fetch-site': 'same-site' }],
  ['nowhere', { origin: 'null' }],
])('CS-01 CS-02 CS-04 a change posted from %s changes nothing and signs nobody out', async (_what, headers) => {
  expect((await change('alice', newPassword, headers)).statusCode).toBe(403);
  expect(await signedInAs(portal, browser.cookies)).toBe('bob');
  expect(await events()).toEqual([]);
});

it('SE-15 if the same form is posted twice at once, both answers lead to the form', async () => {
  const hash = await linkFor(portal, 'alice');
  const form = { hash, password: newPassword, repeat: newPassword };
  const held = { ...browser.cookies };
  const send = () => portal.send({ method: 'POST', url: '/portal/password/change', form, cookies: held });
  const release = await holdRows(portal.sql, (sql) => sql`select from portal_user where username = 'alice' for update`);
  const posts = [send(), send()];
  await untilWaiting(portal.sql, 2);
  await release();
  const answers = await Promise.all(posts);
  for (const { headers, cookies } of answers) {
    expect(headers.location).toBe(changedPage);
    expect(cookies.map(({ name }) => name)).toContain('vestibule-signed-out');
  }
  expect(await portal.sql`select from session`).toHaveLength(0);
});
