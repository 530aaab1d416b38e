import { beforeEach, expect, it } from 'vitest';
import { addAttackFixtures } from '#test/support/accounts-for-test.ts';
import { cookiesOf, type TestRequest, testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { emptyTables } from '#test/support/rows-for-test.ts';
import { seal, unseal } from '../crypto/sealed.ts';

let cookies: Record<string, string>;
const portal = portalOfFile({ once: addAttackFixtures });
beforeEach(async () => {
  await portal.sql`delete from throttle`;
  await portal.sql`delete from session`;
  await emptyTables(portal, 'audit_event');
  cookies = cookiesOf(await portal.signIn('alice', testPassword));
});

const url = '/portal/logout';
const isAlive = async () => (await portal.send({ url: '/portal/session', cookies })).statusCode === 200;
const page = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };

it.each(['same-origin', 'none'])(
  'SE-09 %s: a navigation signs out, and the old cookie no longer works',
  async (site) => {
    const answer = await portal.send({ url, cookies, headers: { ...page, 'sec-fetch-site': site } });
    expect([answer.statusCode, answer.headers.location]).toEqual([303, '/portal/login']);
    expect(answer.cookies).toContainEqual(expect.objectContaining({ name: 'vestibule-session', value: '', maxAge: 0 }));
    expect(await isAlive()).toBe(false);
    expect((await portal.send({ url: '/portal/portal.html', cookies })).headers.location).toBe('/portal/');
    expect(await portal.sql`select from session`).toHaveLength(0);
    const [event] =
      await portal.sql`select event, username, host(address) as address from audit_event order by id desc limit 1`;
    expect(event).toEqual({ event: 'signed-out', username: 'alice', address: '198.51.100.7' });
  },
);

const own = 'http://localhost:8080';

it.each<[string, Record<string, string>]>([
  ['a link of our page', { referer: `${own}/portal/twoFactor` }],
  ['a link of our page under our referrer policy', { referer: `${own}/` }],
  ['a page that says its origin', { origin: own }],
])('a browser without Sec-Fetch-Site signs out by %s', async (_what, headers) => {
  const answer = await portal.send({ url, cookies, headers });
  expect([answer.statusCode, answer.headers.location]).toEqual([303, '/portal/login']);
  expect(await isAlive()).toBe(false);
});

it('a script of our page gets 204, and so does a post from our page', async () => {
  const fetch = { 'sec-fetch-mode': 'cors', 'sec-fetch-site': 'same-origin' };
  expect((await portal.send({ url, cookies, headers: fetch })).statusCode).toBe(204);
  expect(await isAlive()).toBe(false);
  cookies = cookiesOf(await portal.signIn('alice', testPassword));
  const posted = await portal.send({ method: 'POST', url: `${url}?lang=de`, cookies, headers: page });
  expect([posted.statusCode, posted.headers.location]).toEqual([303, '/portal/login?lang=de']);
  expect(await isAlive()).toBe(false);
});

it.each<[string, Record<string, string>]>([
  ['a link on another site', { ...page, 'sec-fetch-site': 'cross-site' }],
  ['a link on a sister host', { ...page, 'sec-fetch-site': 'same-site' }],
  ['a link in a browser that does not say where from', {}],
  [
    'a page that is fetched ahead of the person',
    { ...page, 'sec-fetch-site': 'none', 'sec-purpose': 'prefetch;prerender' },
  ],
  ['a prefetch of our own page', { ...page, 'sec-fetch-site': 'same-origin', 'sec-purpose': 'prefetch' }],
  ['an empty answer', { ...page, 'sec-fetch-site': '', referer: `${own}/` }],
  ['a link on another site, with our page before it', { ...page, 'sec-fetch-site': 'cross-site', referer: `${own}/` }],
  ['a link on another site in an old browser', { referer: 'https://evil.example/' }],
  ['a link in an old browser, with our name in front', { referer: `${own}.evil.example/` }],
  ['another origin in an old browser, with our page before it', { origin: 'https://evil.example', referer: `${own}/` }],
  ['a hidden origin in an old browser', { origin: 'null', referer: `${own}/` }],
  ['our origin in an old browser, with another page before it', { origin: own, referer: 'https://evil.example/' }],
  ['a page that an old browser fetches ahead of the person', { referer: `${own}/`, purpose: 'prefetch' }],
])('CS-11 %s changes nothing and asks for confirmation', async (_what, headers) => {
  const asked = await portal.send({ url, cookies, headers });
  expect([asked.statusCode, asked.headers.location]).toEqual([303, '/portal/logout?confirm=']);
  expect(asked.headers['set-cookie']).toBeUndefined();
  const answer = await portal.send({ url: '/portal/logout?confirm=', cookies, headers });
  expect(answer.statusCode).toBe(200);
  expect(answer.body).toContain('action="/portal/logout"');
  expect(answer.body).toContain('method="post"');
  expect(answer.body).toContain('This browser is signed in as alice');
  expect(answer.body).toContain('>Sign out</button>');
  expect(answer.headers['set-cookie']).toBeUndefined();
  expect(await isAlive()).toBe(true);
});

it.each(['same-origin', 'none'])('CS-11 the page that asks, loaded again (%s), asks again', async (site) => {
  for (const query of ['confirm=', 'confirm=&lang=de', 'lang=de&confirm=x']) {
    const headers = { ...page, 'sec-fetch-site': site };
    const answer = await portal.send({ url: `${url}?${query}`, cookies, headers });
    expect([answer.statusCode, answer.headers['set-cookie']]).toEqual([200, undefined]);
    expect(answer.body).toContain('method="post"');
    expect(await isAlive()).toBe(true);
  }
});

it('CS-11 the page that asks keeps the language and what is to be forgotten', async () => {
  const headers = { ...page, 'sec-fetch-site': 'cross-site' };
  const answer = await portal.send({ url: `${url}?forget=connection&lang=de&x=1`, cookies, headers });
  expect(answer.headers.location).toBe('/portal/logout?confirm=&forget=connection&lang=de');
  const asked = await portal.send({ url: answer.headers.location ?? '', cookies, headers });
  expect(asked.body).toMatch(/action="\/portal\/logout\?[^"]*forget=connection/);
  expect(asked.body).toContain('<html lang="de"');
});

it.each<[string, Record<string, string>]>([
  [
    'an image',
    { accept: 'image/*', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image', 'sec-fetch-site': 'cross-site' },
  ],
  [
    'a script',
    { accept: '*/*', 'sec-fetch-mode': 'cors', 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
  ],
  ['an image in an old browser', { accept: 'image/*' }],
  ['an image in an old browser that says so', { accept: 'image/*', referer: 'https://evil.example/' }],
])('CS-11 %s of another site changes nothing', async (_what, headers) => {
  const answer = await portal.send({ url, cookies, headers });
  expect(answer.statusCode).toBe(403);
  expect(answer.headers['set-cookie']).toBeUndefined();
  expect(await isAlive()).toBe(true);
});

it('CS-11 neither a HEAD nor a post from another site changes anything', async () => {
  await portal.send({ method: 'HEAD', url, cookies, headers: { 'sec-fetch-site': 'cross-site' } });
  await portal.send({ method: 'POST', url, cookies, headers: { 'sec-fetch-site': 'cross-site' } });
  expect(await isAlive()).toBe(true);
});

it.each(['image', 'script', 'iframe', 'object'])(
  'CS-11 our own page loading it as %s changes nothing',
  async (dest) => {
    const headers = { 'sec-fetch-site': 'same-origin', 'sec-fetch-dest': dest };
    const answer = await portal.send({ url, cookies, headers });
    expect(answer.statusCode).toBe(403);
    expect(answer.headers['set-cookie']).toBeUndefined();
    expect(await isAlive()).toBe(true);
  },
);

it('CS-11 a HEAD from our own page, or from a link checker, changes nothing', async () => {
  for (const site of ['same-origin', 'none']) {
    const answer = await portal.send({ method: 'HEAD', url, cookies, headers: { ...page, 'sec-fetch-site': site } });
    expect([answer.statusCode, answer.headers['set-cookie']]).toEqual([405, undefined]);
    expect(await isAlive()).toBe(true);
  }
});

/** What the next page is told: the name that the form is filled in with, and whether its tab forgets everything. */
function told(answer: Parameters<typeof cookiesOf>[0]) {
  const kept = cookiesOf(answer)['vestibule-refusal'] ?? '';
  const { username, out = false } = JSON.parse(Buffer.from(kept, 'base64url').toString());
  return { username, out };
}

it('SE-15 a link that claims to set up an app is an ordinary sign-out; the button keeps the name', async () => {
  const asked = `${url}?destination=%2Fportal%2FtwoFactorRegistration`;
  for (const site of ['none', 'same-origin']) {
    const signedIn = cookiesOf(await portal.signIn('alice', testPassword));
    const answer = await portal.send({ url: asked, cookies: signedIn, headers: { ...page, 'sec-fetch-site': site } });
    expect(answer.statusCode).toBe(303);
    expect(told(answer)).toEqual({ username: '', out: true });
  }
  expect(told(await portal.send({ method: 'POST', url: asked, cookies }))).toEqual({ username: 'alice', out: false });
});

it('SE-14 pages of a session are not cached, so that Back after signing out shows none', async () => {
  for (const path of ['/portal/portal.html', '/portal/session']) {
    const answer = await portal.send({ url: path, cookies });
    expect(answer.statusCode).toBe(200);
    expect(answer.headers['cache-control'], path).toBe('no-store');
    expect(answer.headers.etag).toBeUndefined();
  }
});

it('SE-15 the second person at a browser gets nothing of the first’s', async () => {
  const jar = { ...cookiesOf(await portal.signIn('alice', 'a slip')), ...cookies };
  const signedOut = await portal.send({ method: 'POST', url, cookies: jar });
  Object.assign(jar, cookiesOf(signedOut));
  const answer = await portal.signIn('bob', testPassword, { cookies: jar });
  expect(answer.headers.location).toBe('/portal/portal.html');
  Object.assign(jar, cookiesOf(answer));
  expect(jar['vestibule-refusal']).toBe('');
  const seen = await portal.send({ url: '/portal/portal.html', cookies: jar });
  expect(seen.body).toContain('bob');
  expect(seen.body).not.toContain('alice');
  expect((await portal.send({ url: '/portal/session', cookies: jar })).json().username).toBe('bob');
});

it('SE-15 a sign-out takes the reset link that a form without script has kept', async () => {
  const reset = { 'vestibule-reset': 'r'.repeat(43) };
  const ended = expect.objectContaining({ name: 'vestibule-reset', value: '', maxAge: 0 });
  for (const jar of [reset, { ...reset, ...cookies }])
    expect((await portal.send({ method: 'POST', url, cookies: jar })).cookies).toContainEqual(ended);
});

it('SE-15 the first page after a sign-out, and no other, tells its tab of it', async () => {
  const jar = { ...cookies };
  const isTold = async () => {
    const answer = await portal.send({ url: '/portal/login', cookies: jar });
    Object.assign(jar, cookiesOf(answer));
    return answer.body.includes('"isSignedOut":true');
  };
  Object.assign(jar, cookiesOf(await portal.send({ method: 'POST', url, cookies: jar })));
  expect([await isTold(), await isTold()]).toEqual([true, false]);
  expect(jar['vestibule-refusal']).toBe('');
});

const fetched = { 'sec-fetch-mode': 'cors', 'sec-fetch-site': 'same-origin' };
const opened = { ...page, 'sec-fetch-site': 'same-origin' };
const pressed = { method: 'POST' as const };

it.each<[string, Partial<TestRequest>]>([
  ['a page', { headers: opened }],
  ['a button', pressed],
  ['a call', { headers: fetched }],
  ['a posting call', { ...pressed, headers: fetched }],
])('SE-15 signing out by %s of a session of which nothing is left clears the browser', async (_what, request) => {
  await portal.sql`delete from session`;
  const visit = 'vestibule-visit';
  const jar = { ...cookies, [visit]: 'v'.repeat(43) };
  const answer = await portal.send({ url, cookies: jar, ...request });
  const left = cookiesOf(answer);
  expect([left['vestibule-session'], left[visit], told(answer).out]).toEqual(['', '', true]);
});

it('SE-15 a cookie that somebody may have planted goes too: twice, or malformed', async () => {
  const held = `vestibule-session=${cookies['vestibule-session']}`;
  for (const cookie of [`${held}; ${held}`, 'vestibule-session=x'])
    expect(cookiesOf(await portal.send({ url, headers: { ...fetched, cookie } }))['vestibule-session']).toBe('');
});

it('a sign-out forgets by which connection the browser signs in, if it is asked to', async () => {
  const headers = { ...page, 'sec-fetch-site': 'same-origin' };
  const keys = portal.deps.keys.seal;
  const place = 'remembered-connection';
  const left = async (query: string, more: Partial<TestRequest> = {}) => {
    cookies = cookiesOf(await portal.signIn('alice', testPassword));
    const held = seal(keys, JSON.stringify({ id: 'c', freshSignIn: false }), place).toString('base64url');
    const all = { ...cookies, 'vestibule-connection': held };
    const set = cookiesOf(await portal.send({ url: `${url}${query}`, cookies: all, headers, ...more }));
    return unseal(keys, Buffer.from(set['vestibule-connection'] ?? held, 'base64url'), place);
  };
  expect(await left('')).toBe('{"id":"c","freshSignIn":true}');
  expect(await left('?forget=connection')).toBe('{"id":null,"freshSignIn":true}');
  expect(await left('?forget=all')).toBe('{"id":"c","freshSignIn":true}');
  expect(await left('?forget=connection', { method: 'POST', form: {}, headers: {} })).toContain('null');
  const elsewhere = { ...page, 'sec-fetch-site': 'cross-site' };
  expect(await left('?forget=connection', { headers: elsewhere })).toBe('{"id":"c","freshSignIn":false}');
  const asked = await portal.send({ url: `${url}?confirm=&forget=connection`, cookies, headers: elsewhere });
  expect(asked.body).toContain('action="/portal/logout?forget=connection"');
});
