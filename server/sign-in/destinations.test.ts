import { beforeEach, expect, it } from 'vitest';
import { addAttackFixtures } from '#test/support/accounts-for-test.ts';
import { cookiesOf, type TestRequest, testAddress, testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { eachRow } from '#test/support/runs-all.ts';

const origin = 'http://localhost:8080';
const start = '/portal/portal.html';
const allowedOrigins = ['https://reports.acme.test'];

let cookies: Record<string, string>;
const portal = portalOfFile({
  config: { destinationRules: { origin, basePath: '/portal', allowedOrigins } },
  once: addAttackFixtures,
});
beforeEach(async () => {
  await portal.sql`delete from throttle`;
  const { 'vestibule-session': session = '' } = cookiesOf(await portal.signIn('alice', testPassword));
  cookies = { 'vestibule-session': session };
});

/** Where sign-in leads; a signed-in visitor to the form is redirected by the same rules. */
async function leadsTo(destination: string): Promise<string> {
  const form = { username: 'alice', password: testPassword, redirectURL: destination };
  const signedIn = await portal.signIn('alice', testPassword, { form });
  expect(signedIn.statusCode).toBe(303);
  const { headers } = await portal.send({ url: `/portal/login?${new URLSearchParams({ destination })}`, cookies });
  expect(headers.location).toBe(signedIn.headers.location);
  expect(Object.keys(signedIn.headers).filter((name) => name.startsWith('x-evil'))).toEqual([]);
  return String(headers.location);
}

it('OR-01 to OR-23 a destination elsewhere leads to the default', () =>
  eachRow(
    [
      ['OR-01', ['https://evil.example/', 'http://evil.example/']],
      ['OR-03', ['//evil.example', '///evil.example', '////evil.example']],
      ['OR-04', ['/\\evil.example', '\\\\evil.example', '\\/evil.example']],
      ['OR-05', ['/\t/evil.example', '/\n/evil.example', '\r//evil.example', ' //evil.example']],
      [
        'OR-07',
        ['https:evil.example', 'https:/evil.example', 'http:evil', 'HTTPS://evil.example', 'javascript:alert(1)'],
      ],
      ['OR-09', ['data:text/html,x', 'vbscript:x', 'blob:http://localhost:8080/x', 'file:///etc/passwd']],
      ['OR-10', ['http://localhost:8080@evil.example/', 'https://reports.acme.test@evil.example/']],
      ['OR-10', ['https://reports.acme.test%40evil.example', 'https://alice@reports.acme.test/']],
      ['OR-11', ['https://reports.acme.test\\@evil.example', 'https://evil.example\\@reports.acme.test']],
      [
        'OR-12',
        ['https://reports.acme.test.evil.example', 'https://evilreports.acme.test', 'https://reports.acme.testevil'],
      ],
      ['OR-13', ['https://evil.example/?webbundle', 'https://evil.example/webbundle', '//evil/#webbundle']],
      ['OR-15', ['/portal/%2e%2e//evil.example', '/portal/..//evil.example']],
      ['OR-16', ['//evil。example', '//ｅvil.example', '//evil.example%E3%80%82']],
      ['OR-18', ['/portal.evil', '/portalevil', '/portal@evil', '/portal:80@evil']],
      ['OR-19', ['http://reports.acme.test/', 'https://reports.acme.test:444/', 'https://localhost:8080/']],
      [
        'a call',
        ['/portal/logout', '/portal/logout/?lang=de', '/portal/%6cogout#x', '/portal/x/../logout', '/portal/session'],
      ],
      ['OR-22', [`/portal/${'x'.repeat(10_000)}`]],
      ['OR-23', ['/portal/x\r\nSet-Cookie: a=b', '/portal/x\r\n\r\nX-Evil: 1']],
    ],
    async ([_id, values]) => {
      for (const value of values) expect(await leadsTo(value), value).toBe(start);
    },
  ));

it('OR-06 OR-27 a destination stays on our origin or a listed one', () =>
  eachRow(
    [
      ['OR-06', '%2f%2fevil.example', '/portal/%2f%2fevil.example'],
      ['OR-06', '/%2f/evil.example', '/%2f/evil.example'],
      ['OR-06', '/%5cevil.example', '/%5cevil.example'],
      ['OR-06', '/%252f%252fevil.example', '/%252f%252fevil.example'],
      ['OR-17', '/portal/\u2028\ufeff', '/portal/%E2%80%A8%EF%BB%BF'],
      ['OR-27', '/portal/portal.html#/a?b=c', '/portal/portal.html#/a?b=c'],
      ['a listed origin', 'https://reports.acme.test/7?x=1#y', 'https://reports.acme.test/7?x=1#y'],
      ['a listed origin in capitals', 'HTTPS://Reports.ACME.test/7', 'https://reports.acme.test/7'],
      ['a path outside of the portal', '/hub/start?x=1', '/hub/start?x=1'],
      ['an address of this origin', 'http://localhost:8080/hub/start?x=1#y', '/hub/start?x=1#y'],
      ['a relative address', 'portal.html?x=1', '/portal/portal.html?x=1'],
      ['a relative address that leads up', '../hub/start', '/hub/start'],
    ],
    async ([_id, value, location]) => {
      expect(await leadsTo(value)).toBe(location);
    },
  ));

it('OR-21 a destination sent twice or as a list is ignored', async () => {
  const body = `username=alice&password=${testPassword}`;
  const post = (more: string) => portal.send({ method: 'POST', url: '/portal/performlogin', body: body + more });
  expect((await post('&redirectURL=%2Fa&redirectURL=%2F%2Fevil.example')).statusCode).toBe(400);
  expect((await post('&redirectURL%5B%5D=https%3A%2F%2Fevil.example')).headers.location).toBe(start);
  const twice = '/portal/login?destination=//evil.example&destination=/portal/x';
  expect((await portal.send({ url: twice, cookies })).headers.location).toBe(start);
});

it('OR-17 a lone surrogate or broken escape is an invalid form', async () => {
  for (const bad of ['%ED%A0%80', '%', '%00']) {
    const body = `username=alice&password=${testPassword}&redirectURL=%2Fportal%2F${bad}`;
    expect((await portal.send({ method: 'POST', url: '/portal/performlogin', body })).statusCode, bad).toBe(400);
  }
});

const evil = 'https://evil.example/';
const asked = `?${new URLSearchParams({ destination: evil })}`;
const code = { code: '123456', redirectURL: evil };
const token = 'x'.repeat(43);

it('a refused destination of a sign-in is recorded without itself', async () => {
  await portal.sql`delete from audit_event`;
  await leadsTo(evil);
  const events = await portal.sql`select event, host(address) as address from audit_event`;
  expect(events).toContainEqual({ event: 'destination-refused', address: testAddress });
  expect(JSON.stringify(await portal.sql`select * from audit_event`)).not.toContain('evil');
});

it.each<[string, TestRequest]>([
  ['a page', { url: '/portal/login?destination=//evil.example' }],
  ['a page of a code', { url: `/portal/twoFactor?redirectURL=${encodeURIComponent(evil)}` }],
  ['a request for a link', { url: `/portal/password/forgotten${asked}`, form: { username: 'ada@acme.test' } }],
  ['a malformed one', { url: `/portal/password/forgotten${asked}`, form: { username: 'ada' } }],
  ['a new password', { url: `/portal/password/change${asked}`, form: { password: 'a', repeat: 'b', hash: token } }],
  ['a passkey by a link', { url: `/portal/passkeys/invitation${asked}`, form: { hash: token, credential: '' } }],
  ['a sign-out', { url: `/portal/logout${asked}`, form: {} }],
  ['a code', { url: '/portal/two-factor-authentication/verify', form: code }],
  ['a request for another code', { url: '/portal/two-factor-authentication/send', form: code }],
])('a refused destination of %s is recorded, once a minute for each address, without itself', async (_of, request) => {
  portal.wait(60_000);
  await portal.sql`delete from audit_event`;
  // Sent again until it is there: one that comes while another is being recorded is not.
  const recorded = async (from = testAddress) => {
    const { statusCode } = await portal.send({ ...(request.form && { method: 'POST' }), ...request, from });
    expect(statusCode).toBeLessThan(500);
    return await portal.sql<{ address: string; steps: string }[]>`
      select host(address) as address, steps::text from audit_event where event = 'destination-refused'`;
  };
  await expect.poll(() => recorded()).toHaveLength(1);
  expect((await recorded())[0]?.steps).toMatch(/that is not acceptable/);
  await expect.poll(() => recorded('192.0.2.77')).toHaveLength(2);
  expect((await recorded()).map(({ address }) => address).sort()).toEqual(['192.0.2.77', testAddress]);
  expect(JSON.stringify(await portal.sql`select * from audit_event`)).not.toContain('evil');
});

it('an acceptable one is not', async () => {
  await portal.sql`delete from audit_event`;
  for (const page of [
    '/login',
    '/login?destination=/hub/a',
    '/twoFactor?redirectURL=%2Fportal%2Fx',
    '/login?redirectURL=',
  ])
    await portal.send({ url: `/portal${page}`, from: '192.0.2.7' });
  expect(await portal.sql`select from audit_event where event = 'destination-refused'`).toHaveLength(0);
});

it('a page with a refused destination does not wait for the database', async () => {
  const { sql } = portal.deps;
  portal.deps.sql = Object.assign(() => new Promise(() => {}), sql) as unknown as typeof sql;
  const { statusCode } = await portal.send({ url: '/portal/login?destination=//evil.example' });
  portal.deps.sql = sql;
  expect(statusCode).toBe(200);
});

it('PR-08 an absolute request target does not lead elsewhere', async () => {
  const answer = await portal.send({ url: 'http://evil.example/portal/portal.html' });
  expect(String(answer.headers.location ?? '')).not.toMatch(/^(?:https?:)?\/\//);
});
