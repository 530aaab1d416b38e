import { createHash } from 'node:crypto';
import type { Response } from 'light-my-request';
import { beforeAll, describe, expect, it } from 'vitest';
import { addAttackFixtures } from '#test/support/accounts-for-test.ts';
import { cookiesOf, portalForTest, testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';

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
    ['bad address', 400, await portal.app.inject({ method: 'GET', url: { pathname: '/portal/%ff' } })],
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

it('a sign-in may redirect to a listed foreign origin, which Chromium checks against form-action', async () => {
  const destinationRules = { ...portal.deps.config.destinationRules, allowedOrigins: ['https://hub.example'] };
  const { publicUrl, hosts, origins } = portal.deps.config;
  const listed = await portalForTest({ publicUrl, hosts, origins, destinationRules });
  const policy = (await listed.send({ url: '/portal/login' })).headers['content-security-policy'];
  expect(policy).toContain("form-action 'self' https://hub.example;");
  expect((await portal.send({ url: '/portal/login' })).headers['content-security-policy']).toContain(
    "form-action 'self';",
  );
  await listed.close();
});
