import { beforeEach, expect, it } from 'vitest';
import { addAttackFixtures } from '#test/support/accounts-for-test.ts';
import { cookiesOf, type TestRequest, testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { emptyTables } from '#test/support/rows-for-test.ts';
import { eachRow } from '#test/support/runs-all.ts';
import { seal, unseal } from '../crypto/keys.ts';

let cookies: Record<string, string>;
const portal = portalOfFile({ once: addAttackFixtures });
beforeEach(async () => {
  await emptyTables(portal, 'throttle', 'session', 'audit_event');
  cookies = cookiesOf(await portal.signIn('alice', testPassword));
});

const url = '/portal/logout';
const own = 'http://localhost:8080';
const isAlive = async () => (await portal.send({ url: '/portal/session', cookies })).statusCode === 200;
const page = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };

it('SE-09 a navigation signs out, and the old cookie no longer works', async () => {
  const answer = await portal.send({ url, cookies, headers: { ...page, 'sec-fetch-site': 'same-origin' } });
  expect([answer.statusCode, answer.headers.location]).toEqual([303, '/portal/login']);
  expect(answer.cookies).toContainEqual(expect.objectContaining({ name: 'vestibule-session', value: '', maxAge: 0 }));
  expect(await isAlive()).toBe(false);
  expect((await portal.send({ url: '/portal/portal.html', cookies })).headers.location).toBe('/portal/');
  const [event] =
    await portal.sql`select event, username, host(address) as address from audit_event order by id desc limit 1`;
  expect(event).toEqual({ event: 'signed-out', username: 'alice', address: '198.51.100.7' });
});

it.each<[string, Partial<TestRequest>, number]>([
  ['an address that the person typed', { headers: { ...page, 'sec-fetch-site': 'none' } }, 303],
  ['a link of our page, in a browser without Sec-Fetch-Site', { headers: { referer: `${own}/` } }, 303],
  ['a page that says its origin, in such a browser', { headers: { origin: own } }, 303],
  ['a post from our page', { method: 'POST', headers: page }, 303],
  ['a script of our page', { headers: { 'sec-fetch-mode': 'cors', 'sec-fetch-site': 'same-origin' } }, 204],
])('%s signs out', async (_what, request, status) => {
  expect((await portal.send({ url, cookies, ...request })).statusCode).toBe(status);
  expect(await isAlive()).toBe(false);
});

it('CS-11 what may come from elsewhere changes nothing and asks for confirmation', () =>
  eachRow<Record<string, string>>(
    [
      { ...page, 'sec-fetch-site': 'cross-site' },
      { ...page, 'sec-fetch-site': 'same-site' },
      {},
      // Fetched ahead of the person.
      { ...page, 'sec-fetch-site': 'none', 'sec-purpose': 'prefetch;prerender' },
      { referer: `${own}/`, purpose: 'prefetch' },
      { ...page, 'sec-fetch-site': '', referer: `${own}/` },
      { ...page, 'sec-fetch-site': 'cross-site', referer: `${own}/` },
      // A browser without Sec-Fetch-Site.
      { referer: `${own}.evil.example/` },
      { origin: 'https://evil.example', referer: `${own}/` },
      { origin: 'null', referer: `${own}/` },
      { origin: own, referer: 'https://evil.example/' },
    ],
    async (headers) => {
      const asked = await portal.send({ url, cookies, headers });
      expect([asked.statusCode, asked.headers.location]).toEqual([303, '/portal/logout?confirm=']);
      const answer = await portal.send({ url: '/portal/logout?confirm=', cookies, headers });
      expect([answer.statusCode, answer.headers['set-cookie']]).toEqual([200, undefined]);
      expect(answer.body).toContain('method="post"');
      expect(answer.body).toContain('This browser is signed in as alice');
      expect(await isAlive()).toBe(true);
    },
  ));

it('CS-11 what no person can have asked for is refused and changes nothing', () =>
  eachRow<[Partial<TestRequest>, number]>(
    [
      [{ headers: { 'sec-fetch-dest': 'image', 'sec-fetch-site': 'cross-site' } }, 403],
      [{ headers: { 'sec-fetch-dest': 'iframe', 'sec-fetch-site': 'same-origin' } }, 403],
      [{ headers: { accept: '*/*', 'sec-fetch-mode': 'cors', 'sec-fetch-site': 'cross-site' } }, 403],
      [{ headers: { accept: 'image/*', referer: 'https://evil.example/' } }, 403],
      [{ method: 'POST', headers: { 'sec-fetch-site': 'cross-site' } }, 403],
      [{ method: 'HEAD', headers: { ...page, 'sec-fetch-site': 'same-origin' } }, 405],
    ],
    async ([request, status]) => {
      const answer = await portal.send({ url, cookies, ...request });
      expect([answer.statusCode, answer.headers['set-cookie']]).toEqual([status, undefined]);
      expect(await isAlive()).toBe(true);
    },
  ));

it('CS-11 the page that asks, loaded again, asks again, and keeps what it was asked for', async () => {
  const from = (site: string) => ({ ...page, 'sec-fetch-site': site });
  const first = await portal.send({
    url: `${url}?forget=connection&lang=de&x=1`,
    cookies,
    headers: from('cross-site'),
  });
  expect(first.headers.location).toBe('/portal/logout?confirm=&forget=connection&lang=de');
  const asked = await portal.send({ url: String(first.headers.location), cookies, headers: from('same-origin') });
  expect(asked.body).toMatch(/action="\/portal\/logout\?[^"]*forget=connection/);
  expect(asked.body).toContain('<html lang="de"');
  expect(await isAlive()).toBe(true);
});

it('SE-14 pages of a session are not cached, so that Back after signing out shows none', async () => {
  for (const path of ['/portal/portal.html', '/portal/session']) {
    const { statusCode, headers } = await portal.send({ url: path, cookies });
    expect([statusCode, headers['cache-control'], headers.etag], path).toEqual([200, 'no-store', undefined]);
  }
});

it('SE-15 the second person at a browser gets nothing of the first’s', async () => {
  const jar = { ...cookiesOf(await portal.signIn('alice', 'a slip')), ...cookies, 'vestibule-reset': 'r'.repeat(43) };
  Object.assign(jar, cookiesOf(await portal.send({ method: 'POST', url, cookies: jar })));
  expect(jar['vestibule-reset']).toBe('');
  // The tab is told once.
  const told = async () => {
    const answer = await portal.send({ url: '/portal/login', cookies: jar });
    Object.assign(jar, cookiesOf(answer));
    return answer.body.includes('"isSignedOut":true');
  };
  expect([await told(), await told()]).toEqual([true, false]);
  Object.assign(jar, cookiesOf(await portal.signIn('bob', testPassword, { cookies: jar })));
  const seen = await portal.send({ url: '/portal/portal.html', cookies: jar });
  expect([seen.body.includes('bob'), seen.body.includes('alice')]).toEqual([true, false]);
});

it('SE-15 a cookie that somebody may have planted goes too: twice, or malformed', async () => {
  const fetched = { 'sec-fetch-mode': 'cors', 'sec-fetch-site': 'same-origin' };
  const held = `vestibule-session=${cookies['vestibule-session']}`;
  for (const cookie of [`${held}; ${held}`, 'vestibule-session=x'])
    expect(cookiesOf(await portal.send({ url, headers: { ...fetched, cookie } }))['vestibule-session']).toBe('');
});

it('a sign-out forgets by which connection the browser signs in, if our page asks it to', async () => {
  const keys = portal.deps.keys.seal;
  const place = 'remembered-connection';
  const left = async (query: string, site = 'same-origin') => {
    cookies = cookiesOf(await portal.signIn('alice', testPassword));
    const held = seal(keys, JSON.stringify({ id: 'c', freshSignIn: false }), place).toString('base64url');
    const all = { ...cookies, 'vestibule-connection': held };
    const answer = await portal.send({ url: url + query, cookies: all, headers: { ...page, 'sec-fetch-site': site } });
    return unseal(keys, Buffer.from(cookiesOf(answer)['vestibule-connection'] ?? held, 'base64url'), place);
  };
  expect(await left('')).toBe('{"id":"c","freshSignIn":true}');
  expect(await left('?forget=connection')).toBe('{"id":null,"freshSignIn":true}');
  expect(await left('?forget=connection', 'cross-site')).toBe('{"id":"c","freshSignIn":false}');
});
