import { beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { signOutUser } from '#server/accounts/sign-out-user.ts';
import { tokenHash } from '#server/secrets/token.ts';
import { keepNewestReplacement } from '#server/storage/replaced-session.ts';
import { addCustomer, addUser } from '#testing/accounts-for-test.ts';
import { emptyTables } from '#testing/empty-tables.ts';
import { holdRows, untilWaiting } from '#testing/held-rows.ts';
import { whilePasswordIsVerified } from '#testing/paused-verification.ts';
import { poolOfFile } from '#testing/pool-of-file.ts';
import { cookiesOf, testPassword } from '#testing/portal-for-test.ts';
import { portalOfFile } from '#testing/portal-of-file.ts';
import { signedInAs } from '#testing/signed-in-as.ts';
import { type Browser, halfSession } from '#testing/two-factor-for-test.ts';

// One browser, two tabs: a sign-out is answered while a password from the other tab is being verified.

vi.mock(import('@node-rs/argon2'), async (original) => {
  const { withPausedVerification } = await import('#testing/paused-verification.ts');
  return withPausedVerification(await original());
});

const portal = portalOfFile();
const pool = poolOfFile(portal);
beforeAll(async () => {
  await addCustomer(portal, 'acme');
  await addCustomer(portal, 'beta', { twoFactor: 'email' });
  for (const username of ['alice', 'pat']) await addUser(portal, { username });
  await addUser(portal, { username: 'bob', customers: ['beta'] });
});
beforeEach(async () => {
  await emptyTables(portal, 'session', 'ended_session', 'signed_out_session', 'throttle', 'audit_event', 'mail');
});

const signOut = async (cookies: Browser) =>
  await portal.send({ method: 'POST', url: '/portal/logout', form: {}, cookies });
async function signOutElsewhere() {
  await signOutUser(portal.sql, 'alice', portal.deps.now());
}
const sessions = async () => (await portal.sql`select from session`).length;
const reasons = async () =>
  (await portal.sql<{ reason: string }[]>`select reason from audit_event where event = 'sign-in-refused'`).map(
    ({ reason }) => reason,
  );

it.each(['pat', 'alice', 'bob'])(
  'SE-09 a sign-out while the password of %s is verified leaves nobody signed in',
  async (username) => {
    const cookies = cookiesOf(await portal.signIn('alice', testPassword));
    const late = await whilePasswordIsVerified(
      () => portal.signIn(username, testPassword, { cookies }),
      () => signOut(cookies),
    );
    expect(late.headers.location).toBe('/portal/loginfail/default');
    expect(cookiesOf(late)['vestibule-session']).toBeUndefined();
    expect([await sessions(), await reasons()]).toEqual([0, ['changed-meanwhile']]);
    // Nothing stands in the way of the next attempt, whichever of the two responses was lost.
    const next = cookiesOf(await portal.signIn('pat', testPassword, { cookies }));
    expect(await signedInAs(portal, next)).toBe('pat');
  },
);

it('SE-09 so does leaving a half session', async () => {
  const cookies = await halfSession(portal, 'bob');
  await whilePasswordIsVerified(
    () => portal.signIn('alice', testPassword, { cookies }),
    () => signOut(cookies),
  );
  expect([await sessions(), await reasons()]).toEqual([0, ['changed-meanwhile']]);
  const next = cookiesOf(await portal.signIn('alice', testPassword, { cookies }));
  expect(await signedInAs(portal, next)).toBe('alice');
});

it('SE-09 so does a sign-out elsewhere, as by an operator', async () => {
  const cookies = cookiesOf(await portal.signIn('alice', testPassword));
  const late = await whilePasswordIsVerified(() => portal.signIn('pat', testPassword, { cookies }), signOutElsewhere);
  expect(late.headers.location).toBe('/portal/loginfail/default');
  expect([await sessions(), await reasons()]).toEqual([0, ['changed-meanwhile']]);
  const next = cookiesOf(await portal.signIn('pat', testPassword, { cookies }));
  expect(await signedInAs(portal, next)).toBe('pat');
});

it('SE-09 one at the very moment when the session is stored is seen right after', async () => {
  const token = async (signingIn: ReturnType<typeof portal.signIn>) =>
    cookiesOf(await signingIn)['vestibule-session'] ?? '';
  const before = await token(portal.signIn('alice', testPassword));
  const pats = tokenHash(await token(portal.signIn('pat', testPassword, { cookies: { 'vestibule-session': before } })));
  const replaced = tokenHash(before);
  const since = { tokenHash: pats, unlessSignedOut: replaced, now: portal.deps.now() };
  await keepNewestReplacement(portal.sql, replaced, since);
  expect(await sessions()).toBe(1);
  await portal.sql`insert into ended_session (token_hash, ends_at) values (${replaced}, now() + interval '1 day')`;
  await keepNewestReplacement(portal.sql, replaced, since);
  expect(await sessions()).toBe(0);
});

it('SE-09 a sign-out that comes while the session is being stored ends it', async () => {
  const cookies = cookiesOf(await portal.signIn('alice', testPassword));
  const release = await holdRows(pool, (sql) => sql`select from portal_user where username = 'pat' for no key update`);
  const signingIn = portal.signIn('pat', testPassword, { cookies });
  await untilWaiting(pool, 1);
  await signOut(cookies);
  await release();
  expect(await signedInAs(portal, cookiesOf(await signingIn))).toBeNull();
  expect(await sessions()).toBe(0);
});

it('what else ends the session meanwhile does not count: another sign-in, or time', async () => {
  for (const work of [
    (cookies: Browser) => portal.signIn('alice', testPassword, { cookies }),
    () => portal.sql`delete from session`,
  ]) {
    const cookies = cookiesOf(await portal.signIn('alice', testPassword));
    const late = cookiesOf(
      await whilePasswordIsVerified(
        () => portal.signIn('pat', testPassword, { cookies }),
        async () => await work(cookies),
      ),
    );
    expect(await signedInAs(portal, late)).toBe('pat');
  }
});
