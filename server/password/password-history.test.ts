import { expect, it } from 'vitest';
import { changeUser } from '#server/accounts/change-user.ts';
import { limits } from '#server/limits.ts';
import { hashPassword } from '#server/secrets/password-hash.ts';
import { testPassword } from '#testing/portal-for-test.ts';
import { portalOfFile } from '#testing/portal-of-file.ts';
import {
  changedPage,
  changeTo,
  failedPage,
  hiddenHash,
  linkFor,
  newPassword,
  startAfresh,
  userId,
} from '#testing/reset-for-test.ts';

const portal = portalOfFile({ each: startAfresh });

const landing = async (username: string, password: string) =>
  (await changeTo(portal, await linkFor(portal, username), password)).headers.location;
const rows = async () =>
  (await portal.sql`select from former_password where user_id = ${await userId(portal, 'alice')}`).length;

it('PW-08 PW-09 the last ten are refused in any form, the eleventh is allowed, and the rows stay bounded', async () => {
  const { passwordsRemembered } = limits;
  const passwords = Array.from({ length: passwordsRemembered }, (_, n) => `Häfen-Lantern-${n}${n}`);
  for (const [n, password] of passwords.entries()) {
    expect(await landing('alice', testPassword), `${n} later`).toBe(failedPage(11));
    expect(await landing('alice', password)).toBe(changedPage);
    expect(await rows()).toBe(Math.min(n + 1, passwordsRemembered - 1));
  }
  for (const password of passwords) expect(await landing('alice', password.normalize('NFD'))).toBe(failedPage(11));
  portal.wait(limits.throttle.code.firstWait);
  // There is no minimum age: with eleven links users may return to the eleventh oldest at once.
  expect(await landing('alice', testPassword)).toBe(changedPage);
  expect(await rows()).toBe(passwordsRemembered - 1);
  expect(await landing('alice', passwords[0] as string)).toBe(changedPage);
});

it('PW-08 the history is per user, stored as hashes, and includes passwords set by an operator', async () => {
  await changeUser(portal.sql, 'alice', { passwordHash: await hashPassword(newPassword, null) }, portal.deps.now());
  await changeUser(portal.sql, 'alice', { passwordHash: null }, portal.deps.now());
  expect(await landing('alice', newPassword)).toBe(failedPage(11));
  expect(await landing('alice', testPassword)).toBe(failedPage(11));
  expect(await landing('bob', newPassword)).toBe(changedPage);
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
