import { expect, it, vi } from 'vitest';
import { testPassword } from '#test/support/portal-for-test.ts';
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
import { changeUser } from '../accounts/users.ts';
import { hashPassword } from '../crypto/password-hash.ts';
import { limits } from '../limits.ts';

const argon2 = vi.hoisted(() => ({ hash: vi.fn(), verify: vi.fn() }));
vi.mock('@node-rs/argon2', async (original) => {
  const real = await original<typeof import('@node-rs/argon2')>();
  argon2.hash.mockImplementation(real.hash);
  argon2.verify.mockImplementation(real.verify);
  return { ...real, ...argon2 };
});

const portal = portalOfFile({ each: startAfresh });

const landing = async (password: string, repeat = password) =>
  (await changeTo(portal, await linkFor(portal, 'alice'), password, { repeat })).headers.location;
async function enters(password: string): Promise<boolean> {
  await portal.sql`delete from throttle`;
  return (await portal.signIn('alice', password)).headers.location === '/portal/portal.html';
}

it.each([
  ['letters', `${'Harbour-Lantern-77'.repeat(4).slice(0, 71)}`],
  ['letters of two bytes', `Zürich-7${'ä'.repeat(63)}`],
  ['letters of four bytes', `Hafen-7A${'🗝'.repeat(63)}`],
])('PW-02 passwords that differ only after the 71st of %s are different', async (_what, start) => {
  expect([...start]).toHaveLength(71);
  expect(await landing(`${start}x`, `${start}y`)).toBe(failedPage(5));
  expect(await landing(`${start}x`)).toBe(changedPage);
  expect([await enters(`${start}y`), await enters(start), await enters(`${start}x`)]).toEqual([false, false, true]);
  expect(await landing(`${start}x`)).toBe(failedPage(11));
  expect(await landing(`${start}y`)).toBe(changedPage);
  expect(await landing(`${start}xx`)).toBe(failedPage(9));
});

it('PW-03 LM-02 an oversized password is refused before anything is hashed', async () => {
  const token = await linkFor(portal, 'alice');
  const kilobyte = 'Xy-4'.repeat(256);
  argon2.hash.mockClear();
  argon2.verify.mockClear();
  const post = async (url: string, password: string) => {
    const form = { username: 'alice', password, repeat: password, hash: token };
    const before = process.cpuUsage();
    const { statusCode, headers } = await portal.send({ method: 'POST', url, form });
    // Time on a processor, which a busy machine doesn't stretch, in microseconds.
    const { user, system } = process.cpuUsage(before);
    expect(user + system).toBeLessThan(500_000);
    return [statusCode, headers.location];
  };
  for (const url of ['/portal/performlogin', '/portal/password/change'])
    for (const size of [17, 1024, 10 * 1024]) expect(await post(url, kilobyte.repeat(size))).toEqual([413, undefined]);
  expect(await post('/portal/performlogin', kilobyte.repeat(7))).toEqual([400, undefined]);
  expect(await post('/portal/password/change', kilobyte.repeat(7))).toEqual([303, failedPage(9)]);
  expect([argon2.hash.mock.calls, argon2.verify.mock.calls]).toEqual([[], []]);
  expect(await portal.sql`select used_at from reset_link`).toEqual([{ used_at: null }]);
});

it('BF-12 LM-08 without an open link nothing is hashed, and neither is a bad entry', async () => {
  const token = await linkFor(portal, 'alice');
  argon2.hash.mockClear();
  argon2.verify.mockClear();
  for (const hash of ['x', 'A'.repeat(43)]) await changeTo(portal, hash, newPassword);
  for (const password of ['short', 'lanternq', 'Password-77-!', 'Bell\u0007-Lantern-77'])
    await changeTo(portal, token, password);
  await changeTo(portal, token, newPassword, { repeat: 'x' });
  expect([argon2.hash.mock.calls, argon2.verify.mock.calls]).toEqual([[], []]);
  expect((await changeTo(portal, token, newPassword)).headers.location).toBe(changedPage);
  expect(argon2.hash).toHaveBeenCalledTimes(1);
});

it.each([
  ['composed', 'Zürich-Hafen-42'.normalize('NFC')],
  ['taken apart', 'Zürich-Hafen-42'.normalize('NFD')],
  ['Korean', '비밀번호-Hafen-42'.normalize('NFD')],
])('PW-11 UN-04 a password is the same in any composition of its letters: %s', async (_what, password) => {
  const other = password.normalize('NFC') === password ? password.normalize('NFD') : password.normalize('NFC');
  expect(other).not.toBe(password);
  expect(await landing(password, other)).toBe(changedPage);
  expect([await enters(password), await enters(other)]).toEqual([true, true]);
  expect(await landing(other)).toBe(failedPage(11));
  // Letters that only look alike remain different in a password.
  expect(await enters(password.replace('H', 'Ｈ'))).toBe(false);
});

it('PW-12 UN-09 spaces are kept; NUL and lone surrogates are 400, and the link stays valid', async () => {
  const before = await storedHash(portal, 'alice');
  const token = await linkFor(portal, 'alice');
  const fields = { password: newPassword, repeat: newPassword, hash: token };
  const refused = async (given: Record<string, string>) => {
    const body = Object.entries(given).map((pair) => pair.join('='));
    const post = { method: 'POST', url: '/portal/password/change', headers: { accept: '*/*' } } as const;
    const answer = await portal.send({ ...post, body: body.join('&') });
    return [answer.statusCode, answer.json().field];
  };
  for (const broken of ['%00', '%ED%A0%80', '%ED%BF%BF', '%C0%AF', '%FF', '%F4%90%80%80', '%', '%E2%82'])
    for (const field of ['password', 'repeat', 'hash'])
      expect(await refused({ ...fields, [field]: newPassword + broken }), broken).toEqual([400, field]);
  expect(await refused({ repeat: newPassword, hash: token })).toEqual([400, 'password']);
  expect(await refused({ password: newPassword, hash: token })).toEqual([400, 'repeat']);
  expect(await storedHash(portal, 'alice')).toBe(before);
  for (const spaced of ['  Harbour 77 Lantern  ', '\u00a0Harbour-77-Lantern', 'مصباح-الميناء-Hb-42', '🗝🗝Harbour-77']) {
    expect((await changeTo(portal, await linkFor(portal, 'alice'), spaced)).headers.location).toBe(changedPage);
    expect([await enters(spaced), await enters(spaced.slice(1)), await enters(testPassword)]).toEqual([
      true,
      false,
      false,
    ]);
  }
  expect(await enters('\u00a0Harbour-77-Lantern'.trim())).toBe(false);
});

const rows = async () =>
  (await portal.sql`select from former_password where user_id = ${await userId(portal, 'alice')}`).length;

it('PW-08 PW-09 the last ten are refused in any form, the eleventh is allowed, and the rows stay bounded', async () => {
  const { passwordsRemembered } = limits;
  const passwords = Array.from({ length: passwordsRemembered }, (_, n) => `Häfen-Lantern-${n}${n}`);
  for (const [n, password] of passwords.entries()) {
    expect(await landing(testPassword), `${n} later`).toBe(failedPage(11));
    expect(await landing(password)).toBe(changedPage);
    expect(await rows()).toBe(Math.min(n + 1, passwordsRemembered - 1));
  }
  for (const password of passwords) expect(await landing(password.normalize('NFD'))).toBe(failedPage(11));
  portal.wait(limits.throttle.code.firstWait);
  // There is no minimum age: with eleven links users may return to the eleventh oldest at once.
  expect(await landing(testPassword)).toBe(changedPage);
  expect(await rows()).toBe(passwordsRemembered - 1);
  expect(await landing(passwords[0] as string)).toBe(changedPage);
});

it('PW-08 the history is per user, stored as hashes, and includes passwords set by an operator', async () => {
  await changeUser(portal.sql, 'alice', { passwordHash: await hashPassword(newPassword, null) }, portal.deps.now());
  await changeUser(portal.sql, 'alice', { passwordHash: null }, portal.deps.now());
  expect(await landing(newPassword)).toBe(failedPage(11));
  expect(await landing(testPassword)).toBe(failedPage(11));
  expect((await changeTo(portal, await linkFor(portal, 'bob'), newPassword)).headers.location).toBe(changedPage);
  const hashes = await portal.sql<{ hash: string }[]>`select password_hash as hash from former_password`;
  expect(hashes).toHaveLength(3);
  for (const { hash } of hashes) expect(hash).toMatch(/^\$argon2id\$/);
  await portal.sql`delete from portal_user where username = 'alice'`;
  expect(await portal.sql`select from former_password`).toHaveLength(1);
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
  expect(
    await portal.sql`select username, steps from audit_event where event = 'password-change-refused' and reason = 'throttled'`,
  ).toEqual([
    {
      username: 'alice',
      steps: [{ step: 'throttle', outcome: expect.stringContaining('refused changes of this user') }],
    },
  ]);
  expect((await changeTo(portal, await linkFor(portal, 'bob'), testPassword)).headers.location).toBe(failedPage(11));
  portal.wait(firstWait);
  expect((await changeTo(portal, token, newPassword)).headers.location).toBe(changedPage);
  expect(
    await portal.sql`select key from throttle where key like 'change-%' and key like ${`%${await userId(portal, 'alice')}`}`,
  ).toEqual([]);
});
