import { hash } from '@node-rs/argon2';
import { beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { changeUser } from '#server/accounts/change-user.ts';
import { hashPassword } from '#server/secrets/password-hash.ts';
import { addCustomer, addUser } from '#testing/accounts-for-test.ts';
import { cookiesOf, testPassword } from '#testing/portal-for-test.ts';
import { portalOfFile } from '#testing/portal-of-file.ts';

/** While set, a password verification reports itself and waits. */
let pause: { reached: () => void; over: Promise<void> } | null = null;
vi.mock('@node-rs/argon2', async (original) => {
  const real = await original<typeof import('@node-rs/argon2')>();
  const verify: typeof real.verify = async (...given) => {
    const right = await real.verify(...given);
    pause?.reached();
    await pause?.over;
    return right;
  };
  return { ...real, verify };
});

const portal = portalOfFile();
beforeAll(async () => {
  await addCustomer(portal, 'acme');
});
beforeEach(async () => {
  pause = null;
  await portal.sql.unsafe(
    'delete from portal_user; delete from session; delete from throttle; delete from audit_event',
  );
  const passwordHash = await hash(testPassword, { memoryCost: 8192, timeCost: 1, parallelism: 1 });
  await addUser(portal, { username: 'olga', passwordHash });
});

/** Signs in, and does something once the outdated hash has been verified. */
async function whilePasswordIsLookedAt(work: () => Promise<unknown>) {
  const [reached, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  pause = { reached: reached.resolve, over: over.promise };
  const signingIn = portal.signIn('olga', testPassword);
  await reached.promise;
  pause = null;
  await work();
  over.resolve();
  return await signingIn;
}

const sessions = async () => (await portal.sql`select from session`).length;
const refusals = async () =>
  (await portal.sql<{ reason: string }[]>`select reason from audit_event where reason is not null`).map(
    ({ reason }) => reason,
  );

it('PW-14 a sign-in that meets the renewal of its outdated hash by another goes on', async () => {
  const answer = await whilePasswordIsLookedAt(() => portal.signIn('olga', testPassword));
  expect(answer.headers.location).toBe('/portal/portal.html');
  expect(await refusals()).toEqual([]);
  const live = await portal.send({ url: '/portal/session', cookies: cookiesOf(answer) });
  expect(live.statusCode).toBe(200);
  expect(await sessions()).toBe(2);
});

it.each([
  ['replaced by another one', async () => ({ passwordHash: await hashPassword('Another-Harbour-43') })],
  ['removed', async () => ({ passwordHash: null })],
])('SE-13 RC-08 a sign-in whose password is %s meanwhile is refused', async (_what, change) => {
  const changing = await change();
  const answer = await whilePasswordIsLookedAt(() => changeUser(portal.sql, 'olga', changing, portal.deps.now()));
  expect(answer.headers.location).toBe('/portal/loginfail/default');
  expect([await refusals(), await sessions()]).toEqual([['changed-meanwhile'], 0]);
});

it('SE-13 RC-08 nor does it go on if the hash is renewed first, and the password replaced or the user deactivated then', async () => {
  for (const change of [{ passwordHash: await hashPassword('Another-Harbour-43') }, { active: false }]) {
    const answer = await whilePasswordIsLookedAt(async () => {
      await portal.signIn('olga', testPassword);
      await changeUser(portal.sql, 'olga', change, portal.deps.now());
    });
    expect(answer.headers.location).toBe('/portal/loginfail/default');
    expect(await sessions()).toBe(0);
    await changeUser(portal.sql, 'olga', { passwordHash: await hashPassword(testPassword) }, portal.deps.now());
  }
});
