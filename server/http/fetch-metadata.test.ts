import { beforeAll, expect, it } from 'vitest';
import { calls } from '#contract/calls.ts';
import { addAttackFixtures } from '#test/support/accounts-for-test.ts';
import { cookiesOf, testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { linkFor, newPassword } from '#test/support/reset-for-test.ts';
import { eachRow } from '#test/support/runs-all.ts';
import { isFromOwnOrigin } from './fetch-metadata.ts';

const own = 'https://portal.example';
const portal = portalOfFile({ env: { PUBLIC_URL: own } });
let cookies: Record<string, string>;
beforeAll(async () => {
  await addAttackFixtures(portal);
  cookies = cookiesOf(await portal.signIn('alice', testPassword));
});

/** All except those from providers: their authentication is tested in single-sign-on/saml. */
const posts = Object.values(calls)
  .filter((call) => call.method === 'POST' && call !== calls.samlAnswer && call !== calls.samlLogoutPosted)
  .map(({ path }) => `/portal${path}`);

const foreign: [string, Record<string, string>][] = [
  ['CS-01 another origin', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }],
  ['CS-01 another origin in a browser without Sec-Fetch-Site', { origin: 'https://evil.example' }],
  ['CS-02 a hidden origin', { origin: 'null' }],
  ['CS-02 a hidden origin on our page', { origin: 'null', 'sec-fetch-site': 'same-origin' }],
  ['CS-02 no origin, another site', { 'sec-fetch-site': 'cross-site' }],
  ['CS-02 no origin, another page before', { referer: 'https://evil.example/' }],
  ['CS-02 no origin, an unreadable page before', { referer: 'x' }],
  ['CS-03 our name as a prefix', { origin: 'https://portal.example.evil.example' }],
  ['CS-03 our name as a suffix', { origin: 'https://evilportal.example' }],
  ['CS-03 another scheme', { origin: 'http://portal.example' }],
  ['CS-03 another port', { origin: 'https://portal.example:444' }],
  ['CS-03 a host below ours', { origin: 'https://sub.portal.example' }],
  ['CS-03 two origins', { origin: 'https://portal.example, https://evil.example' }],
  ['CS-04 a sister host', { origin: 'https://portal.example', 'sec-fetch-site': 'same-site' }],
  ['CS-04 a sister host without an origin', { 'sec-fetch-site': 'same-site' }],
  ['an empty header', { origin: 'https://portal.example', 'sec-fetch-site': '' }],
  ['two answers to one question', { origin: 'https://portal.example', 'sec-fetch-site': 'same-origin, cross-site' }],
  ['a post that no page made', { 'sec-fetch-site': 'none' }],
];

it('what is foreign may change nothing', () =>
  eachRow(foreign, ([_what, headers]) => {
    expect(isFromOwnOrigin(headers, [own])).toBe(false);
  }));

it('what is our own is let in', () =>
  eachRow<[string, Record<string, string>]>(
    [
      [
        'CS-06 a form of our page under our referrer policy',
        { origin: own, 'sec-fetch-site': 'same-origin', referer: `${own}/` },
      ],
      ['CS-06 a browser without Sec-Fetch-Site', { origin: own }],
      ['CS-06 an old browser that sends the page only', { referer: `${own}/` }],
      ['a program that is no browser', {}],
    ],
    ([_what, headers]) => {
      expect(isFromOwnOrigin(headers, [own])).toBe(true);
    },
  ));

/** What must be unchanged by a refused request. */
async function state() {
  return await portal.sql`
    select (select jsonb_agg(token_hash) from session) as sessions, (select jsonb_agg(token_hash) from device) as devices,
      (select jsonb_agg(key) from throttle where key not like 'recorded:%') as throttles,
      (select jsonb_agg(id) from job) as requests, (select jsonb_agg(used_at) from reset_link) as links,
      (select jsonb_agg(password_hash order by id) from portal_user) as passwords`;
}

it('CS-01 CS-02 CS-03 CS-04 CS-08 CS-10 no state-changing call is served to another site, sign-in included', async () => {
  const hash = await linkFor(portal, 'bob');
  const before = await state();
  for (const [what, headers] of foreign.filter(([, { referer }]) => !referer)) {
    for (const url of posts) {
      const form = { username: 'bob@acme.test', password: newPassword, repeat: newPassword, hash };
      const answer = await portal.send({ method: 'POST', url, form, cookies, headers });
      expect(answer.statusCode, `${url}: ${what}`).toBe(403);
      expect(answer.headers['set-cookie'], `${url}: ${what}`).toBeUndefined();
    }
  }
  expect(await state()).toEqual(before);
  expect((await portal.send({ url: '/portal/session', cookies })).statusCode).toBe(200);
});

it('LG-05 the refusal is recorded, a flood once a minute for each /64', async () => {
  await portal.sql`delete from audit_event`;
  await portal.sql`delete from throttle`;
  for (let n = 1; n <= 20; n += 1) {
    const headers = { origin: 'https://evil.example' };
    await portal.send({ method: 'POST', url: '/portal/performlogin', headers, from: `2001:db8:1:2::${n}` });
  }
  const events = await portal.sql`select event, steps from audit_event`;
  const outcome = 'POST /portal/performlogin from https://evil.example';
  expect(events).toEqual([{ event: 'request-refused', steps: [{ step: 'origin', outcome }] }]);
  expect(await portal.sql`select key from throttle`).toHaveLength(1);
});

it('CS-14 a method in the form, the query or a header does not override the method', async () => {
  const headers = { 'x-http-method-override': 'POST', 'x-method-override': 'POST', 'sec-fetch-site': 'cross-site' };
  const get = await portal.send({ url: '/portal/performlogin?_method=POST&username=bob', cookies, headers });
  expect([get.statusCode, get.headers.location, get.cookies]).toEqual([303, '/portal/login', []]);
  const form = { _method: 'DELETE', username: 'bob', password: testPassword };
  const post = await portal.send({
    method: 'POST',
    url: '/portal/session?_method=GET',
    form,
    headers: { 'x-http-method-override': 'GET' },
  });
  expect(post.statusCode).toBe(405);
});

it('CS-15 a script of another site learns nothing, with or without a preflight', async () => {
  const from = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' };
  const asked = { ...from, 'access-control-request-method': 'POST', 'access-control-request-headers': 'content-type' };
  const answers = [
    await portal.send({ method: 'OPTIONS', url: '/portal/performlogin', headers: asked }),
    await portal.send({
      method: 'POST',
      url: '/portal/performlogin',
      headers: { ...from, 'content-type': 'application/json' },
      body: '{}',
      cookies,
    }),
    await portal.send({ url: '/portal/session', headers: from, cookies }),
  ];
  expect(answers.map(({ statusCode }) => statusCode).slice(0, 2)).toEqual([403, 403]);
  for (const { headers } of answers) {
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    expect(headers['cross-origin-resource-policy']).toBe('same-origin');
  }
});
