import { beforeEach, expect, it } from 'vitest';
import { accountEvents, postAccount, signedIn, startAccountAfresh } from '#testing/account-page-for-test.ts';
import { givePasskey } from '#testing/passkey-sign-in-for-test.ts';
import { testPassword } from '#testing/portal-for-test.ts';
import { portalOfFile } from '#testing/portal-of-file.ts';
import { newPassword } from '#testing/reset-for-test.ts';
import { giveApp } from '#testing/two-factor-for-test.ts';
import { whoHas } from '../visitor/who.ts';
import { type AccountVisit, accountVisitOf } from './account-visit.ts';
import { app } from './app.ts';
import { devices } from './devices.ts';
import { overview } from './overview.ts';
import { passkeys } from './passkeys.ts';
import { password } from './password.ts';
import { recoveryCodes } from './recovery-codes.ts';
import type { Section } from './section.ts';
import { sessions } from './sessions.ts';

// A session that ends, or gets another token, between the check of a form and its transaction, changes nothing any more.

const portal = portalOfFile();
beforeEach(() => startAccountAfresh(portal));

/** What the forms of a browser know of its session. */
async function visitOf(cookies: Record<string, string>): Promise<AccountVisit> {
  const { deps } = portal;
  const sessionToken = cookies['vestibule-session'] ?? '';
  const address = '198.51.100.7';
  const visit = await accountVisitOf(deps, {
    address,
    sessionToken,
    deviceToken: null,
    rememberedToken: null,
    passkeyToken: null,
    registrationToken: null,
    turns: undefined,
    language: 'en',
    userAgent: undefined,
    requestId: 'test',
    arrivedAt: deps.now(),
    isUse: true,
    who: () => whoHas(deps, sessionToken, address),
  });
  if (!visit) throw new Error('signed out');
  return visit;
}

it.each<[string, Section, string, Record<string, string>]>([
  ['ends no other session', sessions, 'endOthers', {}],
  ['forgets no device', devices, 'forgetAll', {}],
  ['chooses no language', overview, 'language', { language: 'de' }],
  ['makes no recovery codes', recoveryCodes, 'make', {}],
  ['removes no app', app, 'remove', {}],
  ['renames no passkey', passkeys, 'rename', { name: 'Phone' }],
  ['removes no passkey', passkeys, 'remove', {}],
])('it %s', async (_, section, action, fields) => {
  const cookies = await signedIn(portal, 'alice');
  const other = await signedIn(portal, 'alice');
  await giveApp(portal, 'alice');
  await givePasskey(portal, 'alice');
  const [passkey] = await portal.sql<{ id: string }[]>`select id from passkey`;
  const visit = await visitOf(cookies);
  await portal.sql`delete from session where token_hash = ${visit.sessionHash}`;
  expect(await section.actions[action]?.run(portal.deps, visit, { ...passkey, ...fields })).toEqual({
    kind: 'signedOut',
  });
  expect(await accountEvents(portal)).toEqual([]);
  expect((await visitOf(other)).session.language).toBeNull();
});

it('the second press of a new password’s button is not told that the current one is wrong', async () => {
  const cookies = await signedIn(portal, 'alice');
  const visit = await visitOf(cookies);
  const form = { do: 'change', current: testPassword, password: newPassword, repeat: newPassword };
  await postAccount(portal, 'password', form, cookies);
  expect(await password.actions.change?.run(portal.deps, visit, form)).toEqual({ kind: 'signedOut' });
  expect(await accountEvents(portal)).toEqual(['password-changed']);
});
