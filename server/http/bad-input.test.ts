import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import type { InjectOptions, Response } from 'light-my-request';
import { beforeAll, describe, expect, it } from 'vitest';
import { languageNames } from '#contract/languages.ts';
import { addAttackFixtures, addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { requests, type Sent, secondFactorRequests } from '#test/support/hostile-requests.ts';
import { cookiesOf, testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { codeNow, giveApp, halfSession, verify } from '#test/support/two-factor-for-test.ts';

const portal = portalOfFile({ once: addAttackFixtures });

const script = { accept: 'application/json' };
const post = (body: string, headers: Record<string, string> = {}) =>
  portal.send({ method: 'POST', url: '/portal/performlogin', body, headers: { ...script, ...headers } });
const statusOf = async (url: string, headers: Record<string, string> = {}) =>
  (await portal.send({ url, headers })).statusCode;

describe('bad input', () => {
  it('LM-10 CS-13 LM-15 anything but a plain form is not read, whatever it claims to be', async () => {
    const body = `username=bob&password=${testPassword}`;
    for (const type of [
      'application/json',
      'multipart/form-data; boundary=x',
      'text/plain',
      'application/xml',
      'a',
      ';',
    ]) {
      const answer = await post(body, { 'content-type': type });
      expect({ type, status: answer.statusCode }).toEqual({ type, status: 415 });
    }
    for (const encoding of ['gzip', 'identity', 'x'])
      expect((await post(body, { 'content-encoding': encoding })).statusCode, encoding).toBe(415);
    const none = await portal.app.inject({
      method: 'POST',
      url: '/portal/performlogin',
      payload: Buffer.from(body),
      headers: { host: portal.deps.config.hosts[0] ?? '', 'sec-fetch-site': 'same-origin' },
    });
    expect(none.statusCode).toBe(415);
    expect(await portal.sql`select from audit_event`).toHaveLength(0);
  });

  it('LM-11 LM-14 PW-12 a missing, duplicated, extra, NUL or malformed field is named, and nothing is counted', async () => {
    const cases: [string, string, string | undefined][] = [
      ['nothing', '', 'username'],
      ['no password', 'username=bob', 'password'],
      ['an empty password', 'username=bob&password=', 'password'],
      ['a field twice', 'username=bob&password=x&username=eve', 'username'],
      ['a field twice, escaped', 'username=bob&password=x&user%6eame=eve', 'username'],
      ['NUL in the username', 'username=bob%00&password=x', 'username'],
      ['NUL in an extra field', 'username=bob&password=x&y=%00', 'y'],
      ['a lone surrogate', 'username=%ED%A0%80&password=x', 'username'],
      ['overlong UTF-8', 'username=bob&password=%C0%AF', 'password'],
      ['a cut escape', 'username=bob&password=%E0%A4%A', 'password'],
      ['321 characters of name', `username=${'x'.repeat(321)}&password=x`, 'username'],
      ['289 characters of password', `username=bob&password=${'x'.repeat(289)}`, 'password'],
      ['1000 extra fields', `${'a=b&'.repeat(1000)}username=bob&password=x`, undefined],
    ];
    for (const [what, body, field] of cases) {
      const started = process.threadCpuUsage();
      const answer = await post(body);
      expect(answer.statusCode, what).toBe(400);
      expect(answer.headers['content-type'], what).toBe('application/problem+json; charset=utf-8');
      expect(answer.json<{ field?: string }>().field, what).toBe(field);
      expect(process.threadCpuUsage(started).user / 1000, what).toBeLessThan(100);
    }
    const raw = Buffer.from('username=bob&password=\xff', 'latin1');
    const answer = await portal.app.inject({
      method: 'POST',
      url: '/portal/performlogin',
      payload: raw,
      headers: {
        host: portal.deps.config.hosts[0] ?? '',
        'sec-fetch-site': 'same-origin',
        'content-type': 'application/x-www-form-urlencoded',
      },
    });
    expect(answer.statusCode).toBe(400);
    for (const table of ['throttle', 'audit_event', 'session', 'device'])
      expect(await portal.sql`select from ${portal.sql(table)}`, table).toHaveLength(0);
  });

  it('LM-10 LM-15 JSON is accepted only where a code is expected', async () => {
    const headers = { ...script, 'content-type': 'application/json' };
    for (const path of ['performlogin', 'password/change', 'two-factor-authentication/send', 'logout'])
      for (const body of ['"123456"', '{"username":"bob","password":"x"}', '[']) {
        const { statusCode } = await portal.send({ method: 'POST', url: `/portal/${path}`, body, headers });
        expect([path, body.slice(0, 40), statusCode]).toEqual([path, body.slice(0, 40), 415]);
      }
    const verify = '/portal/two-factor-authentication/verify';
    const statuses: number[] = [];
    for (const body of ['"123456"', '"x"', '{}', '[', '"'.repeat(101), `"${'1'.repeat(20_000)}"`])
      statuses.push((await portal.send({ method: 'POST', url: verify, body, headers })).statusCode);
    expect(statuses).toEqual([401, 400, 400, 400, 400, 413]);
    expect(await portal.sql`select from audit_event`).toHaveLength(0);
  });

  it('LM-17 only the configured hosts are served, and no header names another', async () => {
    for (const host of [
      'evil.example',
      'localhost',
      'localhost:8081',
      'localhost:8080.',
      'localhost:8080.evil.example',
      'localhost:8080@evil.example',
      'x localhost:8080',
      '',
    ])
      expect(await statusOf('/portal/login', { host }), host).toBe(421);
    for (const host of ['localhost:8080', 'LocalHost:8080', '127.0.0.1:8080', '[::1]:8080'])
      expect(await statusOf('/portal/login', { host }), host).toBe(200);
    expect(await statusOf('/healthz', { host: 'anything' })).toBe(200);
    for (const name of ['x-forwarded-host', 'forwarded', 'x-host', 'x-original-host']) {
      const headers = { [name]: name === 'forwarded' ? 'host=evil.example' : 'evil.example' };
      const answer = await portal.send({ url: '/portal/portal.html', headers });
      expect(JSON.stringify(answer.headers) + answer.body, name).not.toContain('evil');
    }
  });
});

describe('fuzzing', () => {
  let session: string;
  let secret: string;
  beforeAll(async () => {
    await addCustomer(portal, 'app', { twoFactor: 'app' });
    await addUser(portal, { username: 'gwen', customers: ['app'] });
    secret = await giveApp(portal, 'gwen');
    session = cookiesOf(await portal.signIn('bob', testPassword))['vestibule-session'] ?? '';
  });

  async function send({ method, path, query, headers, body }: Sent): Promise<Response> {
    const search = query.map((pair) => pair.join('=')).join('&');
    return await portal.app.inject({
      method: method as NonNullable<InjectOptions['method']>,
      url: { pathname: path, query: search },
      headers,
      remoteAddress: '198.51.100.7',
      ...(body !== null && { payload: body }),
    });
  }

  const tables = ['portal_user', 'login_name', 'customer', 'membership', 'session', 'device'] as const;
  async function rowCounts(): Promise<number[]> {
    const counts = await Promise.all(
      tables.map((table) => portal.sql<{ n: number }[]>`select count(*) as n from ${portal.sql(table)}`),
    );
    return counts.map(([row]) => row?.n ?? -1);
  }

  function textOf({ headers, body, rawPayload }: Response): string {
    if (headers['content-encoding'] === 'br') return brotliDecompressSync(rawPayload).toString();
    return headers['content-encoding'] === 'gzip' ? gunzipSync(rawPayload).toString() : body;
  }

  /** What holds for every answer to any request. */
  function expectSound(sent: Sent, answer: Response): void {
    const { statusCode, headers, body } = answer;
    const isNotSetUp = statusCode === 503 && /\/authenticate\//.test(sent.path);
    expect(statusCode < 500 || isNotSetUp, `${sent.method} ${sent.path}: ${statusCode}`).toBe(true);
    expect(headers['content-security-policy']).toMatch(/^default-src 'none'/);
    expect(headers).toMatchObject({
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    });
    if (headers.location !== undefined) expect(headers.location).toMatch(/^\/(?![/\\])[!-~]*$/);
    if (statusCode === 405) expect(headers.allow).toMatch(/^[A-Z, ]+$/);
    if (statusCode < 400 || sent.method === 'HEAD' || body === '') return;
    if (String(headers['content-type']).startsWith('text/html')) {
      const language = /^<!doctype html>\n<html lang="(\w\w)">/.exec(textOf(answer))?.[1] ?? '';
      expect(Object.keys(languageNames)).toContain(language);
      expect(headers['content-language']).toBe(language);
    } else expect(answer.json()).toMatchObject({ type: 'about:blank', status: statusCode });
  }

  describe('anything at all', () => {
    it('LM-10 LM-11 LM-13 LM-14 SE-07 IN-08 every route and method answers correctly, and a refusal changes nothing', async () => {
      const before = await rowCounts();
      await fc.assert(
        fc.asyncProperty(requests, async (sent) => {
          const answer = await send(sent);
          expectSound(sent, answer);
          expect(({} as Record<string, unknown>).x).toBeUndefined();
        }),
      );
      expect(await rowCounts()).toEqual(before);
      expect(portal.logs()).not.toContain('unexpected error');
      const alive = await portal.send({ url: '/portal/session', cookies: { 'vestibule-session': session } });
      expect(alive.statusCode).toBe(200);
    });

    it('LM-15 MF-05 SE-06 nothing sent in a half session gets further, and the right code works afterwards', async () => {
      const half = await halfSession(portal, 'gwen');
      const cookie = Object.entries(half)
        .map((pair) => pair.join('='))
        .join('; ');
      const before = await rowCounts();
      await fc.assert(
        fc.asyncProperty(secondFactorRequests, async (sent) => {
          const answer = await send({ ...sent, headers: { ...sent.headers, cookie } });
          expectSound(sent, answer);
          expect(answer.cookies).toEqual([]);
          await portal.sql`update session set code_tries = 0`;
          await portal.sql`delete from throttle`;
        }),
      );
      expect(await rowCounts()).toEqual(before);
      expect(portal.logs()).not.toContain('unexpected error');
      expect((await verify(portal, codeNow(portal, secret), half)).body).toBe('true');
    }, 60_000);
  });
});
