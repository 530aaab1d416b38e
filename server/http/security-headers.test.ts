import { createHash } from 'node:crypto';
import type { Response } from 'light-my-request';
import { beforeAll, describe, expect, it } from 'vitest';
import { calls } from '#contract/calls.ts';
import { addAttackFixtures } from '#test/support/accounts-for-test.ts';
import { cookiesOf, testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { linkFor, newPassword } from '#test/support/reset-for-test.ts';
import { eachRow } from '#test/support/runs-all.ts';
import { isFromOwnOrigin } from './fetch-metadata.ts';

const portal = portalOfFile({ env: { PUBLIC_URL: 'https://portal.example' } });
let all: [name: string, status: number, answer: Response][];
beforeAll(async () => {
  await addAttackFixtures(portal);
  all = await answers();
});

/** One answer of every kind, by name. */
async function answers(): Promise<[string, number, Response][]> {
  const { send } = portal;
  const script = /\/portal\/assets\/main-[^"]+/.exec((await send({ url: '/portal/login' })).body)?.[0] ?? '';
  const headers = { 'x-forwarded-proto': 'http', forwarded: 'proto=http;host=evil.example' };
  const entered = await portal.signIn('bob', testPassword, { headers });
  const cookies = cookiesOf(entered);
  const json = { accept: 'application/json' };
  const form = { username: 'bob', password: 'wrong' };
  const login = { method: 'POST', url: '/portal/performlogin' } as const;
  return [
    ['page', 200, await send({ url: '/portal/login' })],
    ['signed in', 200, await send({ url: '/portal/portal.html', cookies })],
    ['session', 200, await send({ url: '/portal/session', cookies })],
    ['no session', 401, await send({ url: '/portal/session' })],
    ['root', 302, await send({ url: '/' })],
    ['legacy', 302, await send({ url: '/portal/loginFail' })],
    ['hub page', 302, await send({ url: '/portal/portal.html' })],
    ['entered', 303, entered],
    ['refused', 303, await send({ ...login, form })],
    ['bad form', 400, await send({ ...login, body: '', headers: json })],
    ['foreign', 403, await send({ ...login, form, headers: { origin: 'https://evil.example' } })],
    ['nothing', 404, await send({ url: '/portal/nothing' })],
    ['nothing for a script', 404, await send({ url: '/portal/nothing', headers: json })],
    ['no asset', 404, await send({ url: '/portal/assets/nothing.js' })],
    ['method', 405, await send({ method: 'DELETE', url: '/portal/login' })],
    ['too large', 413, await send({ ...login, body: 'x'.repeat(20_000) })],
    ['type', 415, await send({ ...login, body: '{}', headers: { 'content-type': 'application/json' } })],
    ['host', 421, await send({ url: '/portal/login', headers: { host: 'evil.example' } })],
    ['headers', 431, await send({ url: '/portal/login', headers: { x: Array(200).fill('y') } })],
    [
      'unknown domain',
      303,
      await send({ ...login, url: '/portal/authenticate/performSsoLogin', form: { username: 'a@b' } }),
    ],
    ['no SAML answer', 400, await send({ ...login, url: '/portal/authenticate/saml/acs', form: {} })],
    ['SAML metadata', 200, await send({ url: '/portal/authenticate/saml/metadata' })],
    ['logout', 303, await send({ url: '/portal/logout', cookies, headers: { 'sec-fetch-site': 'same-origin' } })],
    ['passkey', 200, await send({ method: 'POST', url: '/portal/passkeys/options' })],
    ['health', 200, await send({ url: '/healthz' })],
    ['ready', 200, await send({ url: '/readyz' })],
    ['file', 200, await send({ url: script })],
    ['packed file', 200, await send({ url: script, headers: { 'accept-encoding': 'br' } })],
    ['part of a file', 206, await send({ url: script, headers: { range: 'bytes=0-9' } })],
    ['no such part', 416, await send({ url: script, headers: { range: 'bytes=99999999-' } })],
  ];
}

describe('the headers of every answer', () => {
  it('HD-01 HD-10 are complete and reveal nothing of the software', async () => {
    for (const [what, status, { statusCode, headers }] of all) {
      expect({ what, status: statusCode }).toEqual({ what, status });
      expect(headers, what).toMatchObject({
        'strict-transport-security': 'max-age=63072000; includeSubDomains',
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'referrer-policy': 'strict-origin',
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-resource-policy': 'same-origin',
        'permissions-policy': expect.stringContaining('camera=()'),
        'content-security-policy': expect.stringMatching(/^default-src 'none'; .*frame-ancestors 'none'/),
      });
      for (const name of ['server', 'x-powered-by', 'via', 'access-control-allow-origin', 'service-worker-allowed'])
        expect(headers[name], `${what} ${name}`).toBeUndefined();
    }
  });

  it('HD-02 nothing but files may be stored or revalidated', async () => {
    for (const [what, , { headers }] of all) {
      const isFile = /\bfile$/.test(what);
      expect({ what, cached: headers['cache-control'] }).toEqual({
        what,
        cached: isFile ? 'public, max-age=31536000, immutable' : 'no-store',
      });
      if (isFile) continue;
      expect({ what, etag: headers.etag, at: headers['last-modified'] }).toEqual({
        what,
        etag: undefined,
        at: undefined,
      });
    }
  });

  it('CK-01 CK-03 every cookie is bound to this host over https', async () => {
    const set = all.flatMap(([, , { headers }]) => [headers['set-cookie'] ?? []].flat());
    expect(set.length).toBeGreaterThan(2);
    for (const cookie of set) {
      expect(cookie).toMatch(
        /^__Host-vestibule-[\w-]+=[\w-]*; Path=\/; HttpOnly; SameSite=Lax; Secure(?:; Max-Age=\d+)?$/,
      );
      expect(cookie.length).toBeLessThan(4096);
    }
  });

  it('HD-07 the policy admits the one style block by its hash, no other style and no inline script', async () => {
    const { body, headers } = await portal.send({ url: '/portal/login' });
    const style = /<style>(.*?)<\/style>/s.exec(body)?.[1] ?? '';
    const policy = String(headers['content-security-policy']);
    expect(policy).toContain(`style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`);
    expect(policy).not.toMatch(/unsafe|\*|http/);
    expect(body).not.toMatch(/ style=| on[a-z]+=|javascript:/i);
    for (const [tag] of body.matchAll(/<script[^>]*>/g))
      expect(tag).toMatch(/ src="\/portal\/assets\/| type="application\/json"/);
  });
});

it('HD-06 HD-08 no service worker, and no page served as a file', async () => {
  const cookies = cookiesOf(await portal.signIn('bob', testPassword));
  for (const path of ['sw.js', 'session/a.css', 'session.css', 'portal.html/a.css', 'login/a.css', 'twoFactor.js']) {
    const { statusCode, headers, body } = await portal.send({ url: `/portal/${path}`, cookies });
    expect([path, statusCode, headers['cache-control']]).toEqual([path, 404, 'no-store']);
    expect(body, path).not.toContain('bob@');
  }
});

describe('requests from elsewhere', () => {
  const own = 'https://portal.example';
  let cookies: Record<string, string>;
  beforeAll(async () => {
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
    const asked = {
      ...from,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'content-type',
    };
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
});
