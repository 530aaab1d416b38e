import fc from 'fast-check';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { addAttackFixtures, addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { configFrom, cookiesOf, testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { linkFor } from '#test/support/reset-for-test.ts';
import { newToken } from '../crypto/token.ts';
import { readTokenCookie } from './cookies.ts';

/** A portal as in production, behind https. */
const env = { PUBLIC_URL: 'https://portal.example' };
const portal = portalOfFile({ env });
beforeAll(async () => {
  await addAttackFixtures(portal);
  await addCustomer(portal, 'careful', { twoFactor: 'email' });
  await addUser(portal, { username: 'frida', customers: ['careful'] });
});
beforeEach(async () => {
  await portal.sql`delete from throttle`;
});

const name = '__Host-vestibule-session';

/** What a neighbouring host, or a page over http, can put beside our cookie. */
const parts = [name, name.toLowerCase(), 'vestibule-session', '=', ' ', '\t', '\u00a0', '\xad', '"', ',', '%3b', '$'];
const pair = fc
  .array(fc.oneof(fc.constantFrom(...parts), fc.string({ unit: 'binary', maxLength: 12 })), { maxLength: 5 })
  .map((texts) => texts.join('').replaceAll(';', ''));
const isOurs = (text: string) => /^[ \t]*__Host-vestibule-session=/.test(text);

it('CK-04 no cookie beside ours changes what is read, and one of the same name makes it untrustworthy', () => {
  const token = newToken();
  const read = (pairs: string[]) => readTokenCookie({ cookie: pairs.join(';') }, configFrom(env), 'session');
  const pairs = fc.array(pair, { maxLength: 4 });
  fc.assert(
    fc.property(pairs, pairs, (before, after) => {
      const others = [...before, ...after];
      expect(read([...before, `${name}=${token}`, ...after])).toBe(others.some(isOurs) ? null : token);
      expect(read(others.filter((text) => !isOurs(text)))).toBeNull();
    }),
  );
});

it('CK-04 a doubled cookie, or one without the prefix that binds it to this host, identifies nobody', async () => {
  const token = cookiesOf(await portal.signIn('alice', testPassword))[name] ?? '';
  const statusWith = async (cookie: string) =>
    (await portal.send({ url: '/portal/session', headers: { cookie } })).statusCode;
  expect(await statusWith(`a=b;${name}=${token};c=d`)).toBe(200);
  const tossed = [
    `${name}=${token}; ${name}=${token}`,
    `${name}=; ${name}=${token}`,
    `vestibule-session=${token}`,
    `__host-vestibule-session=${token}`,
    `\xa0${name}=${token}`,
    `x=${name}=${token}`,
    `${name}=${token},${name}=${token}`,
  ];
  for (const cookie of tossed) expect(await statusWith(cookie), cookie).toBe(401);
});

it('CK-01 no answer without a sign-in sets any cookie', async () => {
  for (const path of ['', 'login', 'forgotten', 'nothing', 'portal.html', 'session', 'logout'])
    expect((await portal.send({ url: `/portal/${path}` })).headers['set-cookie'], path).toBeUndefined();
});

it('a tampered refusal shows none of its content', async () => {
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const long = { username: 'x'.repeat(400) };
  for (const value of ['%', 'x'.repeat(4000), encode(null), encode([]), encode({ username: {} }), encode(long)]) {
    const page = await portal.send({ url: '/portal/login', cookies: { '__Host-vestibule-next-page': value } });
    expect(page.statusCode, value.slice(0, 40)).toBe(200);
  }
});

const pattern = /\b[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}\b/;

/** What the page after a refusal shows, and what the browser keeps of it. */
async function refused() {
  const answer = await portal.signIn('alice', `wrong ${Math.random()}`);
  const cookies = cookiesOf(answer);
  const page = await portal.send({ url: String(answer.headers.location), cookies });
  const [reference = ''] = pattern.exec(page.body) ?? [];
  expect(reference).not.toBe('');
  return { cookies, reference };
}

it('a refusal and its reference belong to the page of the refusal, in any language and after a reload', async () => {
  const { cookies, reference } = await refused();
  const shows = async (url: string) => (await portal.send({ url, cookies })).body.includes(reference);
  for (const query of ['', '/', '?lang=de']) expect(await shows(`/portal/loginfail/default${query}`), query).toBe(true);
  for (const path of ['loginfail/oidc', 'loginfail/ip?ipaddress=192.0.2.1', 'forgottenChangeFailedInfo', 'login', 'x'])
    expect(await shows(`/portal/${path}`), path).toBe(false);
});

it('the reference of a change belongs to the page of its reason', async () => {
  const hash = await linkFor(portal, 'bob');
  const form = { password: testPassword, repeat: 'something else', hash };
  const answer = await portal.send({ method: 'POST', url: '/portal/password/change', form });
  expect(answer.headers.location).toBe('/portal/forgottenChangeFailedInfo?reason=5');
  const cookies = cookiesOf(answer);
  const at = async (query: string) =>
    (await portal.send({ url: `/portal/forgottenChangeFailedInfo${query}`, cookies })).body;
  const [reference = ''] = pattern.exec(await at('?reason=5')) ?? [];
  expect(reference).not.toBe('');
  expect(await at('?5')).toContain(reference);
  expect(await at('?reason=3')).not.toContain(reference);
  expect(await at('')).not.toContain(reference);
});
