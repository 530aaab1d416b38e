import { beforeEach, describe, expect, it } from 'vitest';
import { resetTwoFactor } from '#server/accounts/act-on-user.ts';
import { changeUser } from '#server/accounts/change-user.ts';
import { limits } from '#server/limits.ts';
import { testPassword } from '#testing/portal-for-test.ts';
import { portalOfFile } from '#testing/portal-of-file.ts';
import { changeTo, linkFor, newPassword } from '#testing/reset-for-test.ts';
import { type Browser, giveApp, signInWithApp, startTwoFactorAfresh } from '#testing/two-factor-for-test.ts';

/** Alice's browser, which is remembered, and since signed out. */
let remembered: Browser;
const portal = portalOfFile();
beforeEach(async () => {
  await startTwoFactorAfresh(portal);
  const cookies = await signInWithApp(portal, 'alice', await giveApp(portal, 'alice'), { query: '?remember=true' });
  remembered = { 'vestibule-remembered': cookies['vestibule-remembered'] ?? '' };
  await portal.sql`delete from session`;
});

describe('a device is not remembered any more', () => {
  it.each<[string, () => Promise<unknown>]>([
    [
      'another password by a link (PR-18)',
      async () => await changeTo(portal, await linkFor(portal, 'alice'), newPassword),
    ],
    [
      'another password by the operator',
      () => changeUser(portal.sql, 'alice', { passwordHash: 'x' }, portal.deps.now()),
    ],
    ['the second factor being reset', () => resetTwoFactor(portal.sql, 'alice', portal.deps.now())],
    ['the end of its time', async () => portal.wait(limits.rememberedDevice)],
  ])('after %s', async (_what, happens) => {
    expect(await portal.sql`select from remembered_device`).toHaveLength(1);
    await happens();
    const [{ hash } = { hash: '' }] = await portal.sql<
      { hash: string }[]
    >`select password_hash as hash from portal_user where username = 'pat'`;
    await portal.sql`update portal_user set password_hash = ${hash} where username = 'alice'`;
    const { headers } = await portal.signIn('alice', testPassword, { cookies: remembered });
    expect(headers.location).toMatch(/^\/portal\/twoFactor/);
  });
});
