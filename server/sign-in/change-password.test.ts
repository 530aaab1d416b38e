import { describe, expect, it, vi } from 'vitest';
import { cookiesOf, testPassword, testPasswordHash } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import {
  changedPage,
  changeTo,
  failedPage,
  hiddenHash,
  linkFor,
  newPassword,
  startAfresh,
  storedHash,
  userId,
} from '#test/support/reset-for-test.ts';
import { hashPassword } from '../crypto/password-hash.ts';
import { newToken } from '../crypto/token.ts';
import { limits } from '../limits.ts';

const argon2 = vi.hoisted(() => ({ hash: vi.fn(), verify: vi.fn() }));
vi.mock('@node-rs/argon2', async (original) => {
  const real = await original<typeof import('@node-rs/argon2')>();
  argon2.hash.mockImplementation(real.hash);
  argon2.verify.mockImplementation(real.verify);
  return { ...real, ...argon2 };
});

const portal = portalOfFile({ each: startAfresh });

const weak = 'lanternq';

describe('why a change fails', () => {
  it('the first of several reasons is given: link, account, network, entries, former passwords', async () => {
    const token = await linkFor(portal, 'carol');
    const told: unknown[] = [];
    const post = async (hash: string, password: string, repeat: string) =>
      told.push((await changeTo(portal, hash, password, { repeat })).headers.location);
    const step = async (change: string, password: string, repeat: string) => {
      await portal.sql.unsafe(change);
      await post(token, password, repeat);
    };
    const impossible = ['\u0007abc', '\u0007abd'] as const;
    await portal.sql`
      update portal_user set active = false, may_change_password = false where username = 'carol'`;
    await portal.sql`update customer set active = false`;
    await portal.sql`update reset_link set ends_at = made_at`;
    await post(newToken(), ...impossible);
    await post(token, ...impossible);
    await step(`update reset_link set ends_at = made_at + interval '1 hour', user_id = null`, ...impossible);
    await step(`update reset_link set user_id = (select id from portal_user where username = 'carol')`, ...impossible);
    await step('update portal_user set active = true', ...impossible);
    await step('update portal_user set may_change_password = true', ...impossible);
    await step('update customer set active = true', ...impossible);
    const network = '/portal/loginfail/ip?ipaddress=198.51.100.7';
    expect(told.splice(0)).toEqual([...[4, 3, 2, 7, 8, 10].map(failedPage), network]);
    await step(`update customer set allowed_networks = '{}'`, ...impossible);
    await post(token, 'abc', 'abd');
    await post(token, 'abc', 'abc');
    await portal.sql`update portal_user set password_hash = ${await hashPassword(weak, null)}`;
    await post(token, weak, weak);
    await portal.sql`update portal_user set password_hash = ${await testPasswordHash()}`;
    await post(token, testPassword, testPassword);
    await post(token, newPassword, newPassword);
    expect(told).toEqual([...[6, 5, 9, 1, 11].map(failedPage), changedPage]);
  });
});

const change = (form: Record<string, string>, cookies: Record<string, string> = {}) =>
  portal.send({ method: 'POST', url: '/portal/password/change', form, cookies });
const both = { password: newPassword, repeat: newPassword };

it('EN-07 without an open link nothing about the account is revealed: unknown is 4, used or over is 3', async () => {
  for (const spoil of [
    'select',
    `delete from portal_user where username = 'alice'`,
    'update portal_user set active = false, may_change_password = false',
    `update customer set active = false, allowed_networks = '{192.0.2.0/24}'`,
  ]) {
    await startAfresh(portal);
    const [over, used] = [await linkFor(portal, 'alice'), await linkFor(portal, 'alice')];
    expect((await changeTo(portal, used, newPassword)).headers.location).toBe(changedPage);
    await portal.sql.unsafe(spoil);
    const reasons = { [used]: 3, [over]: 3, [newToken()]: 4, x: 4, '': 4 };
    for (const [hash, reason] of Object.entries(reasons))
      expect((await changeTo(portal, hash, newPassword)).headers.location, spoil).toBe(failedPage(reason));
  }
});

it('PR-17 anything but a whole hash is reason 4; what has the wrong shape is not even looked up', async () => {
  const token = await linkFor(portal, 'alice');
  const longer = ['\u0001', ' ', 'A', '=', `,${token}`].map((end) => token + end);
  const shapeless = ['', 'null', '[]', '%', '*', ` ${token}`, token.slice(0, 42), 'A'.repeat(10_000), ...longer];
  await portal.sql.begin(async (sql) => {
    await sql`lock table reset_link in access exclusive mode`;
    for (const hash of shapeless)
      expect((await change({ ...both, hash })).headers.location, hash.slice(0, 50)).toBe(failedPage(4));
    expect((await change({ ...both, 'hash[]': token })).headers.location).toBe(failedPage(4));
  });
  expect((await change({ ...both, hash: token.toUpperCase() })).headers.location).toBe(failedPage(4));
  expect(await portal.sql`select used_at from reset_link`).toEqual([{ used_at: null }]);
});

it('PR-16 PW-10 a link that was never opened, a kept cookie or a session is not a link', async () => {
  const before = await storedHash(portal, 'alice');
  const token = await linkFor(portal, 'alice');
  const session = cookiesOf(await portal.signIn('alice', testPassword));
  for (const cookies of [session, { 'vestibule-reset': token }, { ...session, 'vestibule-reset': token }]) {
    const more = { username: 'alice', email: 'alice@acme.test', state: 'opened', oldPassword: testPassword };
    for (const form of [both, { ...both, ...more }, { ...both, hash: newToken() }])
      expect((await change(form, cookies)).headers.location).toBe(failedPage(4));
    const linked = await portal.send({ url: `/portal/password/change?hash=${token}`, cookies });
    expect(linked.headers.location).toBe('/portal/forgottenChange');
  }
  expect(await storedHash(portal, 'alice')).toBe(before);
  expect((await portal.send({ url: '/portal/session', cookies: session })).statusCode).toBe(200);
});

it("PR-06 the link determines the user; a name in the form or somebody else's session does not", async () => {
  const bob = await storedHash(portal, 'bob');
  const session = cookiesOf(await portal.signIn('bob', testPassword));
  const form = { ...both, username: 'bob', userId: await userId(portal, 'bob'), email: 'bob@acme.test' };
  const token = await linkFor(portal, 'alice');
  expect((await change({ ...form, hash: token }, session)).headers.location).toBe(changedPage);
  expect(await storedHash(portal, 'bob')).toBe(bob);
  // It ends with the change: nobody goes on as bob who is alice.
  expect((await portal.send({ url: '/portal/session', cookies: session })).statusCode).toBe(401);
});

it('BF-12 guesses at links are slowed down per address, but not the holder of an open one', async () => {
  const { freeFailures, firstWait } = limits.throttle.address;
  const token = await linkFor(portal, 'alice');
  for (let n = 0; n < freeFailures; n += 1)
    expect((await changeTo(portal, newToken(), newPassword)).statusCode, String(n)).toBe(303);
  const page = await changeTo(portal, newToken(), newPassword);
  expect([page.statusCode, page.headers['retry-after']]).toEqual([429, String(firstWait / 1000)]);
  expect(hiddenHash(page)).toMatch(/^[\w-]{43}$/);
  const problem = await changeTo(portal, newToken(), newPassword, { headers: { accept: '*/*' } });
  expect([problem.statusCode, problem.json().status]).toEqual([429, 429]);
  expect((await changeTo(portal, newToken(), newPassword, { from: '192.0.2.1' })).statusCode).toBe(303);
  expect((await changeTo(portal, token, newPassword)).headers.location).toBe(changedPage);
  portal.wait(firstWait);
  expect((await changeTo(portal, newToken(), newPassword)).statusCode).toBe(303);
});

it('BF-12 LM-08 PW-03 LM-02 nothing is hashed without an open link, for a bad entry, or for an oversized one', async () => {
  const token = await linkFor(portal, 'alice');
  argon2.hash.mockClear();
  argon2.verify.mockClear();
  const kilobyte = 'Xy-4'.repeat(256);
  const post = async (url: string, password: string) => {
    const form = { username: 'alice', password, repeat: password, hash: token };
    const { statusCode, headers } = await portal.send({ method: 'POST', url, form });
    return [statusCode, headers.location];
  };
  for (const url of ['/portal/performlogin', '/portal/password/change'])
    for (const size of [17, 10 * 1024]) expect(await post(url, kilobyte.repeat(size))).toEqual([413, undefined]);
  expect(await post('/portal/performlogin', kilobyte.repeat(7))).toEqual([400, undefined]);
  expect(await post('/portal/password/change', kilobyte.repeat(7))).toEqual([303, failedPage(9)]);
  for (const hash of ['x', 'A'.repeat(43)]) await changeTo(portal, hash, newPassword);
  for (const password of ['short', 'lanternq', 'Password-77-!', 'Bell\u0007-Lantern-77'])
    await changeTo(portal, token, password);
  await changeTo(portal, token, newPassword, { repeat: 'x' });
  expect([argon2.hash.mock.calls, argon2.verify.mock.calls]).toEqual([[], []]);
  expect((await changeTo(portal, token, newPassword)).headers.location).toBe(changedPage);
  expect(argon2.hash).toHaveBeenCalledTimes(1);
});

it('LM-08 a password used before, tried again and again with one link, is not looked up any more: 429 with the form', async () => {
  const token = await linkFor(portal, 'alice');
  const again = (more = {}) => changeTo(portal, token, testPassword, more);
  const { freeFailures, firstWait } = limits.throttle.code;
  // At once, and from many addresses.
  const answers = await Promise.all(
    Array.from({ length: freeFailures + 5 }, (_, n) => again({ from: `192.0.2.${n}` })),
  );
  const refused = answers.filter(({ statusCode }) => statusCode === 429);
  expect(answers.filter(({ headers }) => headers.location === failedPage(11))).toHaveLength(freeFailures);
  expect(refused).toHaveLength(5);
  for (const page of refused)
    expect([page.headers['retry-after'], hiddenHash(page)]).toEqual([String(firstWait / 1000), token]);
  expect((await changeTo(portal, await linkFor(portal, 'bob'), testPassword)).headers.location).toBe(failedPage(11));
  portal.wait(firstWait);
  expect((await changeTo(portal, token, newPassword)).headers.location).toBe(changedPage);
});
