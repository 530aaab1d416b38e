import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, expect, it } from 'vitest';
import { addAttackFixtures, signedInAs } from '#test/support/accounts-for-test.ts';
import { cookiesOf, type TestRequest, testAddress, testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { eachRow } from '#test/support/runs-all.ts';
import { browserForTest } from '#test/support/sso-for-test.ts';

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

it('a sign-in that asks for a refused destination is recorded without the address of it', async () => {
  await portal.sql`delete from audit_event`;
  await leadsTo('https://evil.example/');
  expect(await portal.sql`select event, host(address) as address from audit_event order by id`).toContainEqual({
    event: 'destination-refused',
    address: testAddress,
  });
  expect(JSON.stringify(await portal.sql`select * from audit_event`)).not.toContain('evil');
});

const refusedOnes = async () =>
  await portal.sql<{ address: string; steps: string }[]>`
    select host(address) as address, steps::text from audit_event where event = 'destination-refused'`;

it('a page opened with a refused destination is recorded, once a minute, without the address; others are not', async () => {
  // Addresses of their own: an earlier test's record may still be on its way.
  const [visitor, attacker, another] = ['192.0.2.7', '203.0.113.7', '198.18.0.7'];
  const recordedOf = async (from: string) => (await refusedOnes()).filter(({ address }) => address === from);
  const fine = ['/login', '/login?destination=/hub/a', '/twoFactor?redirectURL=%2Fportal%2Fx', '/login?redirectURL='];
  for (const page of fine) await portal.send({ url: `/portal${page}`, from: visitor });
  const refused = ['/login?destination=//evil.example', '/twoFactor?redirectURL=https%3A%2F%2Fevil.example%2F'];
  // Asked again until it is there: one that comes while another is being recorded is not.
  const open = async (from: string) => {
    for (const page of refused) {
      const { statusCode } = await portal.send({ url: `/portal${page}`, from });
      expect([200, 302]).toContain(statusCode);
    }
    return await recordedOf(from);
  };
  await expect.poll(() => open(attacker)).toHaveLength(1);
  await open(attacker);
  // One at a time is recorded: a second one of the attacker's would be there before that of another.
  await expect.poll(() => open(another)).toHaveLength(1);
  expect(await recordedOf(attacker)).toHaveLength(1);
  portal.wait(60_000);
  await expect.poll(() => open(attacker)).toHaveLength(2);
  const [first] = await recordedOf(attacker);
  expect(first?.steps).toContain('that is not acceptable');
  expect(await recordedOf(visitor)).toEqual([]);
  expect(JSON.stringify(await portal.sql`select * from audit_event`)).not.toContain('evil');
});

const evil = 'https://evil.example/';
const asked = `?${new URLSearchParams({ destination: evil })}`;
const code = { code: '123456', redirectURL: evil };
const token = 'x'.repeat(43);

it.each<[string, TestRequest]>([
  ['for a link', { url: `/portal/password/forgotten${asked}`, form: { username: 'ada@acme.test' } }],
  ['for a link, malformed', { url: `/portal/password/forgotten${asked}`, form: { username: 'ada' } }],
  ['for a new password', { url: `/portal/password/change${asked}`, form: { password: 'a', repeat: 'b', hash: token } }],
  ['for a passkey by a link', { url: `/portal/passkeys/invitation${asked}`, form: { hash: token, credential: '' } }],
  ['of a sign-out', { url: `/portal/logout${asked}`, form: {} }],
  ['of a code', { url: '/portal/two-factor-authentication/verify', form: code }],
  ['for another code', { url: '/portal/two-factor-authentication/send', form: code }],
])('a form %s with a refused destination is recorded, once a minute, without the address', async (_of, form) => {
  portal.wait(60_000);
  await portal.sql`delete from audit_event`;
  const post = async (from = testAddress) => await portal.send({ method: 'POST', ...form, from });
  // As above.
  const again = async (from?: string) => {
    expect((await post(from)).statusCode).toBeLessThan(500);
    return await refusedOnes();
  };
  await expect.poll(() => again()).toHaveLength(1);
  expect((await refusedOnes())[0]?.steps).toMatch(/"form".*that is not acceptable/);
  await again();
  await expect.poll(() => again('192.0.2.77')).toHaveLength(2);
  expect((await refusedOnes()).map(({ address }) => address)).toContain('192.0.2.77');
  expect(JSON.stringify(await portal.sql`select * from audit_event`)).not.toContain('evil');
});

it('while one is being recorded, or the database is down, others cost no statement', async () => {
  portal.wait(60_000);
  const { sql } = portal.deps;
  let statements = 0;
  let end = () => {};
  const pending = new Promise<{ count: number }>((resolve) => {
    end = () => resolve({ count: 1 });
  });
  const hang = () => {
    statements += 1;
    return pending;
  };
  portal.deps.sql = Object.assign(hang, sql) as unknown as typeof sql;
  const open = async () => await portal.send({ url: '/portal/login?destination=//evil.example' });
  try {
    for (let count = 0; count < 3; count += 1) await open();
    await expect.poll(() => statements).toBe(1);
    end();
    await pending;
    await nextTurn();
    await open();
    await expect.poll(() => statements).toBe(2);
    portal.deps.outage.isDatabaseAway = true;
    await open();
    await nextTurn();
    expect(statements).toBe(2);
  } finally {
    portal.deps.sql = sql;
    portal.deps.outage.isDatabaseAway = false;
  }
});

it('a page with a refused destination does not wait for the database', async () => {
  const { sql } = portal.deps;
  portal.deps.sql = Object.assign(() => new Promise(() => {}), sql) as unknown as typeof sql;
  const { statusCode } = await portal.send({ url: '/portal/login?destination=//evil.example' });
  portal.deps.sql = sql;
  expect(statusCode).toBe(200);
});

it('a page requested before sign-in is reached afterwards, despite a failed attempt', async () => {
  const asked = '/portal/portal.html?x=1&y=a%20b';
  const toForm = await portal.send({ url: asked });
  expect(toForm.statusCode).toBe(302);
  expect(toForm.headers.location).toBe(`/portal/?${new URLSearchParams({ destination: asked })}`);
  const form = { username: 'alice', password: 'a slip', redirectURL: asked };
  const failed = await portal.signIn('', '', { form });
  expect(failed.headers.location).toBe(`/portal/loginfail/default?${new URLSearchParams({ destination: asked })}`);
  const page = await portal.send({ url: String(failed.headers.location) });
  expect(page.body).toContain(
    `destination=${encodeURIComponent(asked)}`.replaceAll('%20', '+').replaceAll('&', '&amp;'),
  );
  const signedIn = await portal.signIn('', '', { form: { ...form, password: testPassword } });
  expect(signedIn.headers.location).toBe(asked);
  expect((await portal.send({ url: '/portal/portal.html' })).headers.location).toBe('/portal/');
});

it('a form without script that was open over another sign-in and sign-out signs in, at the page that it was going to', async () => {
  const browser = browserForTest(portal);
  const form = { username: 'alice', password: testPassword, redirectURL: '/portal/reports/7?a=1' };
  await browser.get('/portal/login?destination=%2Fportal%2Freports%2F7%3Fa%3D1');
  await browser.post('/portal/performlogin', { username: 'bob', password: testPassword });
  await browser.post('/portal/logout', {});
  expect((await browser.post('/portal/performlogin', form)).headers.location).toBe(form.redirectURL);
  expect(await signedInAs(portal, browser.cookies)).toBe('alice');
});

it('who signs in while somebody else is signed in here becomes that person, at the page that they were going to', async () => {
  const browser = browserForTest(portal);
  await browser.post('/portal/performlogin', { username: 'alice', password: testPassword });
  const ofAlice = { ...browser.cookies };
  const form = { username: 'bob', password: testPassword, redirectURL: '/portal/reports/8' };
  expect((await browser.post('/portal/performlogin', form)).headers.location).toBe(form.redirectURL);
  expect(await signedInAs(portal, browser.cookies)).toBe('bob');
  expect(await signedInAs(portal, ofAlice)).toBe(null);
});

it('a signed-in visitor is redirected from every address of the form', async () => {
  for (const url of ['/portal', '/portal/', '/portal/login', '/portal/login/', '/portal/login?lang=xx'])
    expect((await portal.send({ url, cookies })).headers.location, url).toBe(start);
  const chosen = await portal.send({ url: '/portal/login?lang=de', cookies });
  expect(chosen.headers.location).toBe(`${start}?lang=de`);
  expect((await portal.send({ url: '/portal/login' })).statusCode).toBe(200);
});

it('PR-08 an absolute request target does not lead elsewhere', async () => {
  const answer = await portal.send({ url: 'http://evil.example/portal/portal.html' });
  expect(String(answer.headers.location ?? '')).not.toMatch(/^(?:https?:)?\/\//);
});
