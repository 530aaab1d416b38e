import { hash } from '@node-rs/argon2';
import { beforeEach, expect, it, vi } from 'vitest';
import { changeUser } from '#server/accounts/users.ts';
import { addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { whilePasswordIsVerified } from '#test/support/paused-verification.ts';
import { cookiesOf, testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { hashPassword } from '../crypto/password-hash.ts';

vi.mock(import('@node-rs/argon2'), async (original) => {
  const { withPausedVerification } = await import('#test/support/paused-verification.ts');
  return withPausedVerification(await original());
});

const portal = portalOfFile({ once: (portal) => addCustomer(portal, 'acme') });
let outdated: string;
beforeEach(async () => {
  await portal.sql.unsafe(
    'delete from portal_user; delete from session; delete from throttle; delete from audit_event',
  );
  outdated = await hash(testPassword, { memoryCost: 8192, timeCost: 1, parallelism: 1 });
  await addUser(portal, { username: 'olga', passwordHash: outdated });
});

const signIn = () => portal.signIn('olga', testPassword);
const storedHash = async () => (await portal.sql`select password_hash as hash from portal_user`)[0]?.hash;
const sessions = async () => (await portal.sql`select from session`).length;
const refusals = async () =>
  (await portal.sql`select reason from audit_event where reason is not null`).map(({ reason }) => reason);

it('PW-14 a hash with outdated parameters still works, and the sign-in replaces it', async () => {
  await portal.signIn('olga', 'wrong');
  expect(await storedHash()).toBe(outdated);
  expect((await signIn()).headers.location).toBe('/portal/portal.html');
  const renewed = await storedHash();
  expect(renewed).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  expect((await signIn()).headers.location).toBe('/portal/portal.html');
  expect(await storedHash()).toBe(renewed);
  expect(await portal.sql`select from former_password`).toHaveLength(0);
});

it('PW-14 a sign-in that meets the renewal of its outdated hash by another goes on', async () => {
  const answer = await whilePasswordIsVerified(signIn, signIn);
  expect(answer.headers.location).toBe('/portal/portal.html');
  expect(await refusals()).toEqual([]);
  const live = await portal.send({ url: '/portal/session', cookies: cookiesOf(answer) });
  expect([live.statusCode, await sessions()]).toEqual([200, 2]);
});

const another = () => hashPassword('Another-Harbour-43', null);

it.each([
  ['replaced', async () => ({ passwordHash: await another() }), 'wrong-password'],
  ['removed', async () => ({ passwordHash: null }), 'no-password'],
])('SE-13 RC-08 a sign-in whose password is %s meanwhile is refused', async (_what, change, reason) => {
  const changing = await change();
  const answer = await whilePasswordIsVerified(signIn, () => changeUser(portal.sql, 'olga', changing, portal.by()));
  expect(answer.headers.location).toBe('/portal/loginfail/default');
  expect([await refusals(), await sessions()]).toEqual([[reason], 0]);
});
