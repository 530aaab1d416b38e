import { describe, expect, it, vi } from 'vitest';
import { addUser, signedInAs } from '#test/support/accounts-for-test.ts';
import { whilePasswordIsVerified } from '#test/support/paused-verification.ts';
import { cookiesOf, testPassword } from '#test/support/portal-for-test.ts';
import { poolOfFile, portalOfFile } from '#test/support/portal-of-file.ts';
import { holdRows, untilWaiting } from '#test/support/rows-for-test.ts';
import {
  type Browser,
  codeByMail,
  codeNow,
  giveApp,
  halfSession,
  registerApp,
  registrationUrl,
  signInWithApp,
  startTwoFactorAfresh,
  verdict,
  verify,
} from '#test/support/two-factor-for-test.ts';
import { resetTwoFactor } from '../accounts/act-on-user.ts';
import { changeUser } from '../accounts/users.ts';
import { tokenHash } from '../crypto/token.ts';

vi.mock(import('@node-rs/argon2'), async (original) => {
  const { withPausedVerification } = await import('#test/support/paused-verification.ts');
  return withPausedVerification(await original());
});

const portal = portalOfFile({ each: startTwoFactorAfresh });
/** For holding rows, and for seeing who waits. */
const pool = poolOfFile(portal);

const elsewhere = { from: '203.0.113.66' };
const signInElsewhere = (username: string, cookies: Browser = {}) =>
  portal.signIn(username, testPassword, { cookies, ...elsewhere });

async function secretShown(cookies: Browser): Promise<string> {
  return (await portal.send({ url: registrationUrl, cookies })).json<{ totpSecret: string }>().totpSecret;
}

describe('RC-08 a sign-in by password while its user sets up an app', () => {
  it('RC-08 during password verification is asked for the app', async () => {
    const own = cookiesOf(await portal.signIn('pat', testPassword));
    let after: Browser = {};
    const answer = await whilePasswordIsVerified(
      () => signInElsewhere('pat'),
      async () => {
        after = (await registerApp(portal, own)).cookies;
      },
    );
    expect(answer.headers.location).toMatch(/\/twoFactor\?/);
    expect(await signedInAs(portal, cookiesOf(answer))).toBeNull();
    expect(await signedInAs(portal, after)).toBe('pat');
    expect(await pool`select waits_for as "waitsFor" from session where stage = 'half'`).toEqual([
      { waitsFor: ['app'] },
    ]);
  });

  it('RC-08 that waits for the confirmation is asked for the app', async () => {
    const own = cookiesOf(await portal.signIn('pat', testPassword));
    const secret = await secretShown(own);
    const release = await holdRows(pool, (sql) => sql`select from session for update`);
    const confirming = verify(portal, codeNow(portal, secret), own);
    await untilWaiting(pool, 1);
    const signingIn = portal.signIn('pat', testPassword, elsewhere);
    await Promise.race([signingIn, untilWaiting(pool, 2)]);
    await release();
    expect(verdict(await confirming)).toBe(true);
    const answer = await signingIn;
    expect(answer.headers.location).toContain('/twoFactor');
    expect(await signedInAs(portal, cookiesOf(answer))).toBeNull();
  });

  it('RC-08 that is being stored when the code arrives ends with the confirmation', async () => {
    const own = cookiesOf(await portal.signIn('pat', testPassword));
    const secret = await secretShown(own);
    await addUser(portal, { username: 'peter', customers: ['plain'] });
    const before = cookiesOf(await portal.signIn('peter', testPassword, elsewhere));
    const ofPeter = tokenHash(before['vestibule-session'] as string);
    const release = await holdRows(pool, (sql) => sql`select from session where token_hash = ${ofPeter} for update`);
    const signingIn = portal.signIn('pat', testPassword, { cookies: before, ...elsewhere });
    await untilWaiting(pool, 1);
    const confirming = verify(portal, codeNow(portal, secret), own);
    await Promise.race([confirming, untilWaiting(pool, 2)]);
    await release();
    expect(verdict(await confirming)).toBe(true);
    expect(await signedInAs(portal, cookiesOf(await signingIn))).toBeNull();
    expect(await pool`select stage from session`).toEqual([{ stage: 'full' }]);
  });

  it('RC-08 is asked for the app instead of a code by email, and no such code is sent', async () => {
    const half = await halfSession(portal, 'bob');
    const own = { ...half, ...cookiesOf(await verify(portal, await codeByMail(portal, 'bob'), half)) };
    portal.mails.length = 0;
    const answer = await whilePasswordIsVerified(
      () => signInElsewhere('bob'),
      () => registerApp(portal, own),
    );
    expect(answer.headers.location).not.toContain('codeSentViaEmail');
    expect(await pool`select waits_for as "waitsFor" from session where stage = 'half'`).toEqual([
      { waitsFor: ['app'] },
    ]);
    await portal.workOff();
    expect(await pool`select from email_code`).toEqual([]);
    expect(portal.mails.map(({ text }) => text).join()).not.toMatch(/#\d{6}/);
  });

  it('RC-08 in a browser remembered by email is asked for the app', async () => {
    const half = await halfSession(portal, 'bob');
    const code = await codeByMail(portal, 'bob');
    const own = { ...half, ...cookiesOf(await verify(portal, code, half, { query: '?remember=true' })) };
    const secret = await secretShown(own);
    const release = await holdRows(pool, (sql) => sql`select from session for update`);
    const confirming = verify(portal, codeNow(portal, secret), own);
    await untilWaiting(pool, 1);
    const remembered = { 'vestibule-remembered': own['vestibule-remembered'] as string };
    const signingIn = portal.signIn('bob', testPassword, { cookies: remembered, ...elsewhere });
    await Promise.race([signingIn, untilWaiting(pool, 2)]);
    await release();
    expect(verdict(await confirming)).toBe(true);
    const answer = await signingIn;
    expect(answer.headers.location).toContain('/twoFactor');
    expect(answer.headers.location).not.toContain('codeSentViaEmail');
    expect(cookiesOf(answer)['vestibule-remembered']).toBeUndefined();
    expect(await signedInAs(portal, cookiesOf(answer))).toBeNull();
  });

  it('RC-08 MF-14 a code by email lets nobody in once there is an app, however its half session was left', async () => {
    const half = await halfSession(portal, 'bob');
    const code = await codeByMail(portal, 'bob');
    await giveApp(portal, 'bob');
    expect(verdict(await verify(portal, code, half, { query: '?remember=true' }))).toEqual([401, 'signInExpired']);
    expect(await pool`select from session where stage = 'full'`).toEqual([]);
    expect(await pool`select from remembered_device`).toEqual([]);
  });
});

it('RC-08 a sign-in refused because its user changed leaves the remembered device as it was', async () => {
  const own = await signInWithApp(portal, 'alice', await giveApp(portal, 'alice'), { query: '?remember=true' });
  const remembered = { 'vestibule-remembered': own['vestibule-remembered'] as string };
  const set = (active: boolean) => changeUser(portal.sql, 'alice', { active }, portal.deps.now());
  const refused = await whilePasswordIsVerified(
    () => signInElsewhere('alice', remembered),
    () => set(false),
  );
  expect(refused.headers.location).toBe('/portal/loginfail/default');
  await set(true);
  const answer = await portal.signIn('alice', testPassword, { cookies: remembered, ...elsewhere });
  expect(answer.headers.location).toBe('/portal/portal.html');
});

describe('RC-08 a sign-in by password while the factors of its user are taken away', () => {
  it('RC-08 during password verification does not wait for a removed app', async () => {
    await giveApp(portal, 'pat');
    const reset = () => resetTwoFactor(pool, 'pat', portal.deps.now());
    const answer = await whilePasswordIsVerified(() => signInElsewhere('pat'), reset);
    expect(answer.headers.location).toBe('/portal/portal.html');
    expect(await signedInAs(portal, cookiesOf(answer))).toBe('pat');
  });

  it('RC-08 in a forgotten browser is asked for a code', async () => {
    const secret = await giveApp(portal, 'alice');
    const own = await signInWithApp(portal, 'alice', secret, { query: '?remember=true' });
    const remembered = { 'vestibule-remembered': own['vestibule-remembered'] as string };
    const release = await holdRows(pool, (sql) => sql`select from session for update`);
    const resetting = resetTwoFactor(pool, 'alice', portal.deps.now());
    await untilWaiting(pool, 1);
    // It waits for the user, and finds the device gone.
    const signingIn = portal.signIn('alice', testPassword, { cookies: remembered, ...elsewhere });
    await Promise.race([signingIn, untilWaiting(pool, 2)]);
    await release();
    expect(await resetting).toMatchObject({ kind: 'removed' });
    const answer = await signingIn;
    expect(answer.headers.location).toContain('/twoFactorRegistration');
    expect(await signedInAs(portal, cookiesOf(answer))).toBeNull();
  });
});
