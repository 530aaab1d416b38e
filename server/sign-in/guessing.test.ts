import type { Response } from 'light-my-request';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { longestPasswordInput, longestUsername } from '#contract/payloads.ts';
import { limits } from '#server/limits.ts';
import { addAttackFixtures } from '#test/support/accounts-for-test.ts';
import { cookiesOf, portalForTest, testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';

const verify = vi.hoisted(() => vi.fn());
vi.mock('@node-rs/argon2', async (original) => {
  const argon2 = await original<typeof import('@node-rs/argon2')>();
  verify.mockImplementation(argon2.verify);
  return { ...argon2, verify };
});

const { account } = limits.throttle;
const second = 1000;

const portal = portalOfFile({ once: addAttackFixtures });
beforeEach(async () => {
  await portal.sql`delete from throttle`;
  await portal.sql`delete from audit_event`;
  verify.mockClear();
});

const isIn = (answer: Response) => answer.statusCode === 303 && 'vestibule-session' in cookiesOf(answer);
const reasonOfLast = async () =>
  (await portal.sql`select reason from audit_event order by id desc limit 1`)[0]?.reason as string;
const failuresOfAccount = async () =>
  (await portal.sql`select failures from throttle where key like 'account:%'`)[0]?.failures;

/** Tries different wrong passwords one after the other. */
async function guess(username: string, times: number): Promise<void> {
  for (let n = 0; n < times; n += 1) await portal.signIn(username, `guess ${n} of ${Math.random()}`);
}

it('BF-01 five failures are free; the sixth attempt waits, right password or not, and each wait doubles', async () => {
  await guess('alice', account.freeFailures);
  let wait: number = account.firstWait;
  for (; wait <= account.longestWait; wait *= 2) {
    portal.wait(wait - second);
    expect(isIn(await portal.signIn('alice', testPassword)), `${wait} ms less 1 s`).toBe(false);
    expect(await reasonOfLast()).toBe('throttled-account');
    portal.wait(second);
    await guess('alice', 1);
    expect(await reasonOfLast()).toBe('wrong-password');
  }
  portal.wait(account.longestWait);
  expect(isIn(await portal.signIn('alice', testPassword))).toBe(true);
});

it('BF-01 a right password ends the waits, and old failures expire one by one', async () => {
  await guess('alice', account.freeFailures - 1);
  expect(isIn(await portal.signIn('alice', testPassword))).toBe(true);
  expect(await failuresOfAccount()).toBeUndefined();
  await guess('alice', account.freeFailures);
  portal.wait(2 * account.leakEvery);
  await guess('alice', 2);
  expect(await reasonOfLast()).toBe('wrong-password');
  await guess('alice', 1);
  expect(await reasonOfLast()).toBe('throttled-account');
});

it('EN-03 BF-03 every form of a name counts on the same account', async () => {
  for (const [index, form] of ['bob', 'bob@acme.test', 'BOB', 'bob ', 'ｂｏｂ'].entries())
    await portal.signIn(form, `another guess ${index}`);
  expect(await failuresOfAccount()).toBe(5);
  expect((await portal.signIn('bob', testPassword)).headers.location).toBe('/portal/loginfail/default');
});

it('BF-04 every wrong password counts for its address and for all, the same one repeated on and on too', async () => {
  const from = '2001:db8::7';
  for (const password of ['other', 'again', 'again', 'again']) await portal.signIn('alice', password, { from });
  await portal.signIn('nobody', 'other', { from });
  const origins = await portal.sql`
    select split_part(key, ':', 1) as origin, failures from throttle where key ~ '^(address|network|site|total)' order by 1`;
  expect(origins).toEqual(['address', 'network', 'site', 'total'].map((origin) => ({ origin, failures: 5 })));
  await portal.sql`update throttle set failures = ${limits.throttle.address.freeFailures - 1} where key like 'address:%'`;
  await portal.signIn('nobody', 'other', { from });
  verify.mockClear();
  expect((await portal.signIn('nobody', 'other', { from })).statusCode).toBe(429);
  expect(verify).not.toHaveBeenCalled();
});

it('the same wrong password twice in a row counts once, unless another comes between', async () => {
  for (const [password, failures] of [
    ['once', 1],
    ['once', 1],
    ['other', 2],
    ['once', 3],
  ] as const) {
    await portal.signIn('alice', password);
    expect(await failuresOfAccount()).toBe(failures);
  }
});

it('BF-05 a forged X-Forwarded-For neither spares the account nor changes the counted address', async () => {
  for (let n = 0; n < 8; n += 1)
    await portal.signIn('alice', `guess ${n}`, { headers: { 'x-forwarded-for': `192.0.2.${n}` } });
  expect(verify).toHaveBeenCalledTimes(8);
  expect(await reasonOfLast()).toBe('throttled-account');
  expect(await portal.sql`select key from throttle where key like 'address:%'`).toEqual([
    { key: 'address:198.51.100.7' },
  ]);
});

it('BF-09 counters survive a restart', async () => {
  await guess('alice', account.freeFailures);
  const restarted = await portalForTest({}, portal);
  expect(isIn(await restarted.signIn('alice', testPassword))).toBe(false);
  await restarted.close();
});

it('BF-10 a failure that cannot be recorded still counts', async () => {
  await portal.sql`alter table audit_event rename to audit_event_away`;
  const statuses: number[] = [];
  for (let n = 0; n < account.freeFailures; n += 1)
    statuses.push((await portal.signIn('alice', `guess ${n}`)).statusCode);
  await portal.sql`alter table audit_event_away rename to audit_event`;
  expect(statuses).toEqual(Array(account.freeFailures).fill(500));
  expect(isIn(await portal.signIn('alice', testPassword))).toBe(false);
});

it('BF-13 only the form signs in: Basic, JSON and text do not, nor is their password checked', async () => {
  const basic = `Basic ${Buffer.from(`alice:${testPassword}`).toString('base64')}`;
  const json = JSON.stringify({ username: 'alice', password: testPassword });
  const post = (headers: Record<string, string>, body: string) =>
    portal.send({ method: 'POST', url: '/portal/performlogin', headers, body });
  const form = 'application/x-www-form-urlencoded';
  expect((await post({ authorization: basic, 'content-type': form }, '')).statusCode).toBe(400);
  for (const type of ['application/json', 'text/plain', 'multipart/form-data; boundary=x', 'application/json; x'])
    expect((await post({ 'content-type': type }, json)).statusCode, type).toBe(415);
  expect((await portal.send({ url: '/portal/session', headers: { authorization: basic } })).statusCode).toBe(401);
  expect(verify).not.toHaveBeenCalled();
});

/** What a visitor sees of an answer, with random parts replaced by text of equal length. */
function seen(response: Response) {
  const headers = { ...response.headers, date: '' };
  const cookies = response.cookies.map(({ name, value, ...rest }) => ({ name, length: value.length, ...rest }));
  return { status: response.statusCode, body: response.body, headers: { ...headers, 'set-cookie': cookies } };
}

describe('user enumeration', () => {
  it('EN-01 EN-11 every refused sign-in looks like that of an unknown user, including cookies', async () => {
    const expected = seen(await portal.signIn('nobody', 'wrong password'));
    expect(expected).toMatchObject({ status: 303, headers: { location: '/portal/loginfail/default' } });
    for (let guess = 0; guess < 6; guess += 1)
      await portal.signIn('alice', `guess ${guess}`, { from: `192.0.2.${guess}` });
    // Names of equal length, since the typed name is returned in a cookie.
    for (const [what, username, password] of [
      ['wrong password', 'bob', 'wrong password'],
      ['inactive', 'dave', testPassword],
      ['no customer', 'erin', testPassword],
      ['locked', 'alice', testPassword],
      ['without a password', 'sso-only', testPassword],
    ] as const) {
      const answer = seen(await portal.signIn(username, password));
      const unknown = seen(await portal.signIn('x'.repeat(username.length), 'wrong password'));
      expect(answer, what).toEqual(unknown);
      expect({ ...answer.headers, 'set-cookie': null }, what).toEqual({ ...expected.headers, 'set-cookie': null });
    }
  });

  it('EN-13 an oversized password is refused before any work, for known and unknown users alike', async () => {
    const long = 'x'.repeat(5000);
    // The typed name is returned, and is the only difference.
    const bob = JSON.stringify(seen(await portal.signIn('bob', long)));
    const nobody = JSON.stringify(seen(await portal.signIn('yyy', long)));
    expect(bob).toContain('bob');
    expect(bob.replaceAll('bob', 'yyy')).toBe(nobody);
    expect(JSON.parse(bob)).toMatchObject({ status: 400 });
    expect(await portal.sql`select * from throttle`).toHaveLength(0);
  });

  it('EN-14 IP-12 a wrong password from a refused network looks like any wrong password', async () => {
    expect((await portal.signIn('carol', 'wrong')).headers.location).toBe('/portal/loginfail/default');
    expect((await portal.signIn('carol', testPassword)).headers.location).toBe(
      '/portal/loginfail/ip?ipaddress=198.51.100.7',
    );
  });
});

describe('without JavaScript the form comes back', () => {
  const url = '/portal/performlogin';
  const long = 'x'.repeat(longestUsername + 80);
  const tooLong = /role="alert"[\s\S]*longer than allowed/;
  const missing = /role="alert"[\s\S]*Enter both/;

  it.each([
    ['a name that is too long', { username: long, password: testPassword }, long.slice(0, longestUsername), tooLong],
    [
      'a password that is too long',
      { username: 'alice', password: 'p'.repeat(longestPasswordInput + 1) },
      'alice',
      tooLong,
    ],
    ['no password', { username: 'alice', password: '' }, 'alice', missing],
    ['one field alone', { username: '<i>' }, '&lt;i&gt;', missing],
  ])(
    'after %s, with what was typed and its error, and nothing of an earlier sign-in',
    async (_, form, value, words) => {
      const cookies = cookiesOf(await portal.signIn('bob', 'not the password'));
      for (const table of ['throttle', 'audit_event']) await portal.sql`delete from ${portal.sql(table)}`;
      const answer = await portal.send({ method: 'POST', url, form: form as Record<string, string>, cookies });
      expect(answer.statusCode).toBe(400);
      expect(answer.body).toMatch(/<form[^>]* action="\/portal\/performlogin"/);
      expect(answer.body).toContain(`value="${value}"`);
      expect(answer.body).toMatch(words);
      for (const secret of [testPassword, 'ppp', 'value="bob"']) expect(answer.body).not.toContain(secret);
      expect(answer.body).not.toMatch(/\b[0-9A-Z]{4}-[0-9A-Z]{4}\b/);
      expect(answer.cookies).toEqual([]);
      for (const table of ['throttle', 'audit_event'])
        expect(await portal.sql`select from ${portal.sql(table)}`, table).toHaveLength(0);
    },
  );
});
