import { describe, expect, it, vi } from 'vitest';
import { signedInAs } from '#test/support/accounts-for-test.ts';
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
  startTwoFactorAfresh,
  verdict,
  verify,
  verifyByForm,
} from '#test/support/two-factor-for-test.ts';
import { resetTwoFactor } from '../accounts/act-on-user.ts';
import { changeUser } from '../accounts/users.ts';
import type { Connection } from '../database/database.ts';

vi.mock(import('@node-rs/argon2'), async (original) => {
  const { withPausedVerification } = await import('#test/support/paused-verification.ts');
  return withPausedVerification(await original());
});

const portal = portalOfFile({ each: startTwoFactorAfresh });
/** For concurrent changes, for holding rows, and for seeing who waits. */
const pool = poolOfFile(portal);

const remember = { query: '?remember=true' };
const elsewhere = { from: '203.0.113.66' };
const signInElsewhere = (username: string, cookies: Browser = {}) =>
  portal.signIn(username, testPassword, { cookies, ...elsewhere });
const halfSessions = () => pool`select waits_for as "waitsFor" from session where stage = 'half'`;
const apps = () => pool`select from totp`;

/** Starts one thing, then another that has to wait for it; returns their results. */
async function queued<A, B>(held: string, one: () => Promise<A>, other: () => Promise<B>): Promise<[A, B]> {
  const release = await holdRows(pool, (sql) => sql.unsafe(`select from ${held} for update`));
  const first = one();
  await untilWaiting(pool, 1);
  const second = other();
  await Promise.race([second, untilWaiting(pool, 2)]);
  await release();
  return [await first, await second];
}

describe('RC-08 what happens while a code is looked at', () => {
  it.each<[string, (sql: Connection) => Promise<unknown>]>([
    ['is deactivated', async (sql) => await sql`update portal_user set active = false where username = 'alice'`],
    ['loses the half session', async (sql) => await sql`delete from session`],
    [
      'loses the app',
      async (sql) => {
        await sql`select from portal_user where username = 'alice' for update`;
        await sql`delete from totp`;
        await sql`delete from session`;
      },
    ],
  ])('RC-08 a user who %s gets no session', async (_what, happens) => {
    const secret = await giveApp(portal, 'alice');
    const cookies = await halfSession(portal, 'alice');
    const release = await holdRows(pool, happens);
    const verifying = verify(portal, codeNow(portal, secret), cookies);
    await untilWaiting(pool, 1);
    await release();
    const answer = await verifying;
    expect([verdict(answer), answer.cookies]).toEqual([[401, 'signInExpired'], []]);
    expect(await pool`select from session where stage = 'full'`).toEqual([]);
    expect(await pool`select from totp where last_step > 0`).toEqual([]);
  });

  it('RC-08 MF-14 a code by email lets nobody in once there is an app, however its half session was left', async () => {
    const half = await halfSession(portal, 'bob');
    const code = await codeByMail(portal, 'bob');
    await giveApp(portal, 'bob');
    expect(verdict(await verify(portal, code, half, remember))).toEqual([401, 'signInExpired']);
    expect(await pool`select from session where stage = 'full'`).toEqual([]);
    expect(await pool`select from remembered_device`).toEqual([]);
  });

  it('RC-07 two tabs of one browser share one session: each step ends the one before, and nobody is signed out', async () => {
    let jar = cookiesOf(await portal.signIn('bob', testPassword));
    const first = { ...jar };
    portal.wait(60_000);
    jar = { ...jar, ...cookiesOf(await portal.signIn('bob', testPassword, { cookies: jar })) };
    const code = await codeByMail(portal, 'bob');
    const late = await verifyByForm(portal, { code }, first);
    expect(late.headers.location).toContain('notice=signInExpired');
    const [one, other] = await Promise.all([verifyByForm(portal, { code }, jar), verifyByForm(portal, { code }, jar)]);
    // Whichever the browser keeps, it holds the one session.
    expect(cookiesOf(other)['vestibule-session']).toBe(cookiesOf(one)['vestibule-session']);
    const held = [first, jar, { ...jar, ...cookiesOf(one) }];
    expect(await Promise.all(held.map((cookies) => signedInAs(portal, cookies)))).toEqual([null, null, 'bob']);
    expect(await pool`select from session`).toHaveLength(1);
  });
});

describe('RC-08 a sign-in by password while its user sets up an app', () => {
  it.each(['pat', 'bob'])(
    'RC-08 during password verification %s is asked for the app, and sent no code',
    async (name) => {
      let own = cookiesOf(await portal.signIn(name, testPassword));
      if (name === 'bob') own = { ...own, ...cookiesOf(await verify(portal, await codeByMail(portal, name), own)) };
      portal.mails.length = 0;
      const answer = await whilePasswordIsVerified(
        () => signInElsewhere(name),
        () => registerApp(portal, own),
      );
      expect(answer.headers.location).toMatch(/\/twoFactor\?(?!.*codeSentViaEmail)/);
      expect(await halfSessions()).toEqual([{ waitsFor: ['app'] }]);
      await portal.workOff();
      expect(portal.mails.map(({ text }) => text).join()).not.toMatch(/#\d{6}/);
    },
  );
});

describe('RC-08 a sign-in by password while the factors of its user are taken away', () => {
  it('RC-08 during password verification does not wait for a removed app', async () => {
    await giveApp(portal, 'pat');
    const reset = () => resetTwoFactor(pool, 'pat', portal.deps.now());
    const answer = await whilePasswordIsVerified(() => signInElsewhere('pat'), reset);
    expect(await signedInAs(portal, cookiesOf(answer))).toBe('pat');
  });
});

describe('EM-10 another email of a user ends what codes to the one before could open', () => {
  const changeEmail = (email = 'bob@new.test') => changeUser(pool, 'bob', { email }, portal.deps.now());
  const full = async (more = {}) => {
    const half = await halfSession(portal, 'bob');
    return { ...half, ...cookiesOf(await verify(portal, await codeByMail(portal, 'bob'), half, more)) };
  };
  const keyOf = async (cookies: Browser) =>
    (await portal.send({ url: registrationUrl, cookies })).json<{ totpSecret: string }>().totpSecret;

  it('EM-10 a sent code, with its half session; one whose email is waiting is not sent', async () => {
    const half = await halfSession(portal, 'bob');
    const code = await codeByMail(portal, 'bob');
    await halfSession(portal, 'bob', elsewhere);
    expect(await changeEmail()).toMatchObject({ kind: 'changed', sessionsEnded: 2 });
    expect(verdict(await verify(portal, code, half, remember))).toEqual([401, 'signInExpired']);
    await portal.workOff();
    expect(portal.mails).toHaveLength(1);
  });

  it('EM-10 MF-12 what a full session may set up for having proven one, also while it is being confirmed', async () => {
    const own = await full();
    const totpSecret = await keyOf(own);
    const confirm = () => verify(portal, codeNow(portal, totpSecret), own);
    const [, confirmed] = await queued('session', changeEmail, confirm);
    expect([confirmed.statusCode, confirmed.headers['vestibule-notice']]).toEqual([409, 'signInTooOld']);
    expect((await portal.send({ url: registrationUrl, cookies: own })).statusCode).toBe(409);
    expect([await apps(), await signedInAs(portal, own)]).toEqual([[], 'bob']);
  });
});
