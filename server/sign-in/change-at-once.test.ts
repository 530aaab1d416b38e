import { describe, expect, it, vi } from 'vitest';
import { addUser } from '#test/support/accounts-for-test.ts';
import { type PortalForTest, testPassword } from '#test/support/portal-for-test.ts';
import { otherInstanceOfFile, poolOfFile, portalOfFile } from '#test/support/portal-of-file.ts';
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
import { atCommit, untilWaiting, withFault } from '#test/support/rows-for-test.ts';
import { runsAll } from '#test/support/runs-all.ts';
import type { Connection } from '../database/database.ts';
import { limits } from '../limits.ts';
import { makeLink } from './reset-link.ts';

// Hashing is instant and readable here, so that the changes of a test meet in the database.
vi.mock('@node-rs/argon2', async (original) => ({
  ...(await original<typeof import('@node-rs/argon2')>()),
  hash: async (password: string) => `hash of ${password}`,
  verify: async (hash: string, password: string) => hash === `hash of ${password}`,
}));

/** More changes of one user meet here than one who is refused may try. */
vi.mock(import('../limits.ts'), async (original) => {
  const module = await original();
  const { throttle } = module.limits;
  const code = { ...throttle.code, freeFailures: 1000 as never };
  return { ...module, limits: { ...module.limits, throttle: { ...throttle, code } } };
});

// Two instances on one database, each with its own pool; requests alternate between them.
const portal = portalOfFile({ each: startAfresh });
const portals = [portal, otherInstanceOfFile(portal)] as const;
/** For queries by the tests themselves. */
const aside = poolOfFile(portal);

const portalOf = (n: number) => portals[n % 2] as PortalForTest;

/** Where a change leads. */
async function landing(n: number, token: string, password: string): Promise<string | undefined> {
  return (await changeTo(portalOf(n), token, password)).headers.location;
}

/**
 * Lets requests meet: locks the row of alice until all of them wait for it, one after the other; then `first` runs, and
 * they continue.
 */
async function meet<T>(
  requests: (() => Promise<T>)[],
  first: (sql: Connection) => PromiseLike<unknown> = async () => {},
) {
  const answers: Promise<T>[] = [];
  await aside.begin(async (sql) => {
    await sql`select from portal_user where username = 'alice' for update`;
    for (const request of requests) {
      answers.push(request());
      await untilWaiting(aside, answers.length);
    }
    await first(sql);
  });
  return await Promise.all(answers);
}

describe('concurrent changes', () => {
  it.each([
    ['one link', 'alice', changedPage],
    ['an invitation, and one of a reset link', 'grace', '/portal/portal.html'],
  ])('PR-03 RC-01 of fifty posts of %s with different passwords one wins', async (_what, username, done) => {
    for (let round = 0; round < (runsAll ? 20 : 1); round += 1) {
      await startAfresh(portal);
      await addUser(portal, { username: 'grace', passwordHash: null });
      const reset = await linkFor(portal, username);
      const id = await userId(portal, username);
      const token =
        username === 'grace' ? (await makeLink(portal.sql, id, portal.deps.now(), 'invitation')).token : reset;
      const before = await storedHash(portal, username);
      const passwords = Array.from({ length: 50 }, (_, n) => `Harbour-Lantern-${round}-${n}`);
      const pages = await Promise.all(passwords.map((password, n) => landing(n, n === 7 ? reset : token, password)));
      const winners = passwords.filter((_, n) => pages[n] === done || pages[n] === changedPage);
      expect(winners).toHaveLength(1);
      expect(pages.filter((page) => page?.includes('/forgottenChangeFailedInfo'))).toHaveLength(49);
      expect(await storedHash(portal, username)).toBe(`hash of ${winners[0]}`);
      const former = await portal.sql`select password_hash as hash from former_password`;
      expect(former).toEqual(before === null ? [] : [{ hash: before }]);
      expect(await portal.sql`select from reset_link where used_at is not null`).toHaveLength(1);
      expect(await portal.sql`select from job where payload->>'kind' = 'passwordChanged'`).toHaveLength(1);
      const events = await portal.sql`
        select from audit_event where event in ('password-changed', 'invitation-used')`;
      expect(events).toHaveLength(1);
    }
  });

  it('PR-03 ten concurrent posts of one link with the same password end like one; a later one is refused', async () => {
    const token = await linkFor(portal, 'alice');
    const pages = await meet(Array.from({ length: 10 }, (_, n) => () => landing(n, token, newPassword)));
    expect(pages).toEqual(Array(10).fill(changedPage));
    expect(await portal.sql`select from former_password`).toHaveLength(1);
    expect(await portal.sql`select from job`).toHaveLength(1);
    expect(await portal.sql`select event from audit_event`).toEqual([{ event: 'password-changed' }]);
    expect(await landing(1, token, newPassword)).toBe(failedPage(3));
  });

  it.each([
    ['the account was made inactive', 7, `update portal_user set active = false where username = 'alice'`],
    ['the account was removed', 2, `delete from portal_user where username = 'alice'`],
    ['the link ran out', 3, `update reset_link set ends_at = made_at`],
  ])('a change checked while %s is refused, reason %i, and nothing of it is stored', async (_what, reason, sql) => {
    const token = await linkFor(portal, 'alice');
    const pages = await meet([() => landing(0, token, newPassword)], (aside) => aside.unsafe(sql));
    expect(pages).toEqual([failedPage(reason)]);
    expect(await storedHash(portal, 'alice')).not.toBe(`hash of ${newPassword}`);
    expect(await portal.sql`select used_at from reset_link`).toEqual([{ used_at: null }]);
    for (const table of ['former_password', 'job']) expect(await portal.sql`select from ${aside(table)}`).toEqual([]);
  });
});

const landingOf = async (password: string) =>
  (await changeTo(portal, await linkFor(portal, 'alice'), password)).headers.location;
const rows = async () =>
  (await portal.sql`select from former_password where user_id = ${await userId(portal, 'alice')}`).length;

it('PW-08 PW-09 the last ten are refused in any form, the eleventh is allowed, and the rows stay bounded', async () => {
  const { passwordsRemembered } = limits;
  const passwords = Array.from({ length: passwordsRemembered }, (_, n) => `Häfen-Lantern-${n}${n}`);
  for (const [n, password] of passwords.entries()) {
    expect(await landingOf(testPassword), `${n} later`).toBe(failedPage(11));
    expect(await landingOf(password)).toBe(changedPage);
    expect(await rows()).toBe(Math.min(n + 1, passwordsRemembered - 1));
  }
  for (const password of passwords) expect(await landingOf(password.normalize('NFD'))).toBe(failedPage(11));
  // There is no minimum age: with eleven links users may return to the eleventh oldest at once.
  expect(await landingOf(testPassword)).toBe(changedPage);
  expect(await rows()).toBe(passwordsRemembered - 1);
  expect(await landingOf(passwords[0] as string)).toBe(changedPage);
});

const tables = ['portal_user', 'former_password', 'reset_link', 'session', 'device', 'throttle', 'job', 'audit_event'];

/** Every row in the database, except that a change was tried, which stays counted, and when a job is tried again. */
async function state(): Promise<unknown> {
  const rows = tables.map((table) => {
    const what = table === 'job' ? 'id::text' : 't::text';
    return portal.sql.unsafe(
      `select ${what} from ${table} t where t::text not like '(change-password-by-link:%' order by 1`,
    );
  });
  return JSON.stringify(await Promise.all(rows));
}

describe('a full disk', () => {
  it.each([
    ['the password', 'before update on portal_user for each row'],
    ['the record', 'before insert on audit_event for each row'],
    ['the commit', atCommit('job')],
  ])('V2.3.3 at the write of %s of a change leaves nothing half done, and the link open', async (_what, timing) => {
    await portal.signIn('alice', testPassword);
    await portal.signIn('alice', 'wrong');
    const token = await linkFor(portal, 'alice');
    const before = await state();
    await withFault(portal, timing, async () => {
      const page = await changeTo(portal, token, newPassword);
      expect([page.statusCode, page.headers['retry-after'], hiddenHash(page)]).toEqual([503, '5', token]);
      expect(page.body).not.toContain(newPassword);
      const call = await changeTo(portal, token, newPassword, { headers: { accept: 'application/json' } });
      expect([call.statusCode, call.headers['retry-after'], call.json().status]).toEqual([503, '5', 503]);
    });
    expect(await state()).toEqual(before);
    expect((await changeTo(portal, token, newPassword)).headers.location).toBe(changedPage);
  });
});
