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

// Which addresses are acceptable: contract/destination.test.ts.
it('OR-01 OR-04 OR-10 OR-23 a destination elsewhere leads to the default', () =>
  eachRow(
    [
      ...['https://evil.example/', '//evil.example', '/\\evil.example', '/\t/evil.example', 'javascript:alert(1)'],
      ...['https://reports.acme.test@evil.example/', 'https://reports.acme.test.evil.example', '/portalevil'],
      ...['/portal/logout', '/portal/%6cogout#x', `/portal/${'x'.repeat(10_000)}`],
      ...['/portal/x\r\nSet-Cookie: a=b', '/portal/x\r\n\r\nX-Evil: 1'],
    ],
    async (value) => expect(await leadsTo(value)).toBe(start),
  ));

it('OR-06 OR-27 a destination stays on our origin or a listed one', () =>
  eachRow(
    [
      ['%2f%2fevil.example', '/portal/%2f%2fevil.example'],
      ['/portal/\u2028\ufeff', '/portal/%E2%80%A8%EF%BB%BF'],
      ['/portal/portal.html#/a?b=c', '/portal/portal.html#/a?b=c'],
      ['HTTPS://Reports.ACME.test/7?x=1#y', 'https://reports.acme.test/7?x=1#y'],
      ['http://localhost:8080/hub/start?x=1#y', '/hub/start?x=1#y'],
      ['../hub/start', '/hub/start'],
    ] as const,
    async ([value, location]) => expect(await leadsTo(value)).toBe(location),
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
