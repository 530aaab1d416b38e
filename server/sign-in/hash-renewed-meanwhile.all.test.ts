import { hash } from '@node-rs/argon2';
import { beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { whilePasswordIsVerified } from '#test/support/paused-verification.ts';
import { cookiesOf, testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { changeUser } from '../accounts/users.ts';
import { hashPassword } from '../crypto/password-hash.ts';

vi.mock(import('@node-rs/argon2'), async (original) => {
  const { withPausedVerification } = await import('#test/support/paused-verification.ts');
  return withPausedVerification(await original());
});

const portal = portalOfFile();
beforeAll(async () => {
  await addCustomer(portal, 'acme');
});
beforeEach(async () => {
  await portal.sql.unsafe(
    'delete from portal_user; delete from session; delete from throttle; delete from audit_event',
  );
  const passwordHash = await hash(testPassword, { memoryCost: 8192, timeCost: 1, parallelism: 1 });
  await addUser(portal, { username: 'olga', passwordHash });
});

const signIn = () => portal.signIn('olga', testPassword);
const sessions = async () => (await portal.sql`select from session`).length;
const refusals = async () =>
  (await portal.sql<{ reason: string }[]>`select reason from audit_event where reason is not null`).map(
    ({ reason }) => reason,
  );

it('PW-14 a sign-in that meets the renewal of its outdated hash by another goes on', async () => {
  const answer = await whilePasswordIsVerified(signIn, signIn);
  expect(answer.headers.location).toBe('/portal/portal.html');
  expect(await refusals()).toEqual([]);
  const live = await portal.send({ url: '/portal/session', cookies: cookiesOf(answer) });
  expect(live.statusCode).toBe(200);
  expect(await sessions()).toBe(2);
});

it.each([
  [
    'replaced by another one',
    async () => ({ passwordHash: await hashPassword('Another-Harbour-43', null) }),
    'wrong-password',
  ],
  ['removed', async () => ({ passwordHash: null }), 'no-password'],
])('SE-13 RC-08 a sign-in whose password is %s meanwhile is refused', async (_what, change, reason) => {
  const changing = await change();
  const answer = await whilePasswordIsVerified(signIn, () =>
    changeUser(portal.sql, 'olga', changing, portal.deps.now()),
  );
  expect(answer.headers.location).toBe('/portal/loginfail/default');
  expect([await refusals(), await sessions()]).toEqual([[reason], 0]);
});

it('SE-13 RC-08 nor does it go on if the hash is renewed first, and the password replaced or the user deactivated then', async () => {
  for (const change of [{ passwordHash: await hashPassword('Another-Harbour-43', null) }, { active: false }]) {
    const answer = await whilePasswordIsVerified(signIn, async () => {
      await signIn();
      await changeUser(portal.sql, 'olga', change, portal.deps.now());
    });
    expect(answer.headers.location).toBe('/portal/loginfail/default');
    expect(await sessions()).toBe(0);
    await changeUser(portal.sql, 'olga', { passwordHash: await hashPassword(testPassword, null) }, portal.deps.now());
  }
});
