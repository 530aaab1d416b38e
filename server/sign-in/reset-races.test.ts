import { describe, expect, it, vi } from 'vitest';
import { addUser } from '#test/support/accounts-for-test.ts';
import { type PortalForTest, testPassword } from '#test/support/portal-for-test.ts';
import { otherInstanceOfFile, poolOfFile, portalOfFile } from '#test/support/portal-of-file.ts';
import {
  changedPage,
  changeTo,
  failedPage,
  invite,
  linkFor,
  newPassword,
  startAfresh,
  storedHash,
  userId,
} from '#test/support/reset-for-test.ts';
import { untilWaiting } from '#test/support/rows-for-test.ts';
import { runsAll } from '#test/support/runs-all.ts';
import { changeUser } from '../accounts/users.ts';
import type { Connection } from '../database/database.ts';
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
    for (let round = 0; round < (runsAll ? 20 : 2); round += 1) {
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

  it('RC-01 of concurrent invitations, in whatever order their names are, each leaves one that is open', async () => {
    const names = ['grace', 'heidi', 'ivan', 'judy'];
    for (const username of names) await addUser(portal, { username, passwordHash: null });
    const asked = Array.from({ length: 20 }, (_, n) => (n % 2 === 0 ? names : names.toReversed()));
    const results = await Promise.all(asked.map((names, n) => invite(portalOf(n), ...names)));
    expect(results.map(({ kind }) => kind)).toEqual(asked.map(() => 'invited'));
    const open = await portal.sql`select user_id from reset_link where ends_at > made_at and purpose = 'invitation'`;
    expect(new Set(open.map(({ user_id }) => user_id)).size).toBe(names.length);
    expect(open).toHaveLength(names.length);
  });

  it('PR-03 ten concurrent posts of one link with the same password end like one; a later one is refused', async () => {
    const token = await linkFor(portals[0], 'alice');
    const pages = await meet(Array.from({ length: 10 }, (_, n) => () => landing(n, token, newPassword)));
    expect(pages).toEqual(Array(10).fill(changedPage));
    expect(await portals[0].sql`select from former_password`).toHaveLength(1);
    expect(await portals[0].sql`select from job`).toHaveLength(1);
    expect(await portals[0].sql`select event from audit_event`).toEqual([{ event: 'password-changed' }]);
    expect(await landing(0, token, newPassword)).toBe(failedPage(3));
    expect(await landing(1, token, newPassword)).toBe(failedPage(3));
  });

  it('a link while the operator sets a password: neither overwrites what it has not seen', async () => {
    const byOperator = async () =>
      (await changeUser(portals[1].pool, 'alice', { passwordHash: 'hash of the operator' }, portals[0].deps.now()))
        .kind;
    const first = await linkFor(portals[0], 'alice');
    expect(await meet([byOperator, () => landing(0, first, newPassword)])).toEqual(['changed', failedPage(4)]);
    expect(await storedHash(portals[0], 'alice')).toBe('hash of the operator');
    const second = await linkFor(portals[0], 'alice');
    expect(await meet([() => landing(0, second, newPassword), byOperator])).toEqual([changedPage, 'changed']);
    expect(await storedHash(portals[0], 'alice')).toBe('hash of the operator');
    expect(await portals[0].sql`select from former_password`).toHaveLength(3);
  });

  it('a concurrent sign-in with the old password leaves no session alive', async () => {
    const token = await linkFor(portals[0], 'alice');
    const signIn = async () => (await portals[1].signIn('alice', testPassword)).headers.location;
    const [, changed] = await meet([signIn, () => landing(0, token, newPassword), signIn]);
    expect(changed).toBe(changedPage);
    expect(await portals[0].sql`select from session`).toHaveLength(0);
    expect(await portals[0].sql`select from device`).toHaveLength(0);
  });

  it.each([
    ['the account was made inactive', 7, `update portal_user set active = false where username = 'alice'`],
    ['the account may not change it any more', 8, `update portal_user set may_change_password = false`],
    ['the account was removed', 2, `delete from portal_user where username = 'alice'`],
    ['the same password was stored in another form', 4, `update portal_user set password_hash = 'another form'`],
    ['the link ran out', 3, `update reset_link set ends_at = made_at`],
  ])('a change checked while %s is refused, reason %i, and nothing of it is stored', async (_what, reason, sql) => {
    const token = await linkFor(portals[0], 'alice');
    const pages = await meet([() => landing(0, token, newPassword)], (aside) => aside.unsafe(sql));
    expect(pages).toEqual([failedPage(reason)]);
    expect(await storedHash(portals[0], 'alice')).not.toBe(`hash of ${newPassword}`);
    expect(await portals[0].sql`select used_at from reset_link`).toEqual([{ used_at: null }]);
    for (const table of ['former_password', 'job'])
      expect(await portals[0].sql`select from ${aside(table)}`).toEqual([]);
  });
});
