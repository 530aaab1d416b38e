import { describe, expect, it } from 'vitest';
import { addAttackFixtures } from '#test/support/accounts-for-test.ts';
import { testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';

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

  it('405 lists the available methods; HEAD works wherever GET does', async () => {
    const allow = async (method: 'GET' | 'PUT' | 'DELETE' | 'OPTIONS' | 'POST', url: string) => {
      const answer = await portal.send({ method, url, headers: script });
      return [answer.statusCode, answer.headers.allow];
    };
    expect(await allow('GET', '/portal/performlogin')).toEqual([405, 'POST']);
    expect(await allow('POST', '/portal/authenticate/oidc/callback/acme')).toEqual([405, 'GET']);
    expect(await allow('POST', '/portal/two-factor-authentication/registration')).toEqual([405, 'GET, HEAD']);
    expect(await allow('PUT', '/portal/logout')).toEqual([405, 'GET, POST']);
    expect(await allow('DELETE', '/portal/session')).toEqual([405, 'GET, HEAD']);
    expect(await allow('OPTIONS', '/portal')).toEqual([405, 'GET, HEAD']);
    expect(await allow('POST', '/healthz')).toEqual([405, 'GET, HEAD']);
    expect(await allow('POST', '/portal/nothing')).toEqual([404, undefined]);
    for (const url of ['/portal/login', '/portal/nothing', '/portal/session', '/healthz', '/', '/portal/portal.html']) {
      const [head, get] = [await portal.send({ method: 'HEAD', url }), await portal.send({ url })];
      expect([head.statusCode, head.body], url).toEqual([get.statusCode, '']);
      expect({ ...head.headers, date: '' }, url).toEqual({ ...get.headers, date: '' });
    }
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
