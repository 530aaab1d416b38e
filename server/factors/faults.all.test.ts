import { describe, expect, it, vi } from 'vitest';
import { signedInAs } from '#test/support/accounts-for-test.ts';
import { whilePasswordIsVerified } from '#test/support/paused-verification.ts';
import { cookiesOf, testPassword } from '#test/support/portal-for-test.ts';
import { poolOfFile, portalOfFile } from '#test/support/portal-of-file.ts';
import { atCommit, holdRows, stateOf, untilWaiting, withFault } from '#test/support/rows-for-test.ts';
import {
  askForKey,
  type Browser,
  codeByMail,
  codeNow,
  giveApp,
  giveRecoveryCodes,
  halfSession,
  registerApp,
  startTwoFactorAfresh,
  verdict,
  verify,
  verifyByForm,
  wrongCodes,
} from '#test/support/two-factor-for-test.ts';
import { changeUser } from '../accounts/users.ts';
import type { Connection } from '../database/database.ts';
import { limits } from '../limits.ts';

vi.mock(import('@node-rs/argon2'), async (original) => {
  const { withPausedVerification } = await import('#test/support/paused-verification.ts');
  return withPausedVerification(await original());
});

const portal = portalOfFile({ each: startTwoFactorAfresh });

/** A half session, and a right code for it. */
const codes: Record<string, () => Promise<{ code: string; cookies: Browser }>> = {
  'of an app': async () => {
    const secret = await giveApp(portal, 'alice');
    return { code: codeNow(portal, secret), cookies: await halfSession(portal, 'alice') };
  },
  'by email': async () => {
    const cookies = await halfSession(portal, 'bob');
    return { code: await codeByMail(portal, 'bob'), cookies };
  },
  'for recovery': async () => {
    await giveApp(portal, 'alice');
    const [code = ''] = await giveRecoveryCodes(portal, 'alice');
    return { code, cookies: await halfSession(portal, 'alice') };
  },
  'that confirms an app': async () => {
    const cookies = await halfSession(portal, 'alice');
    const { totpSecret } = (await askForKey(portal, cookies)).json<{ totpSecret: string }>();
    return { code: codeNow(portal, totpSecret), cookies };
  },
};
const at = (write: string) => `before ${write} for each row`;

describe('V2.3.3 a fault in the midst of a right code leaves nothing half done, and the code works afterwards', () => {
  it.each([
    ['of an app', at('update on totp')],
    // Not at the count of the attempt.
    ['of an app', at('update of token_hash on session')],
    ['of an app', at('insert on device')],
    ['of an app', at('insert on remembered_device')],
    ['of an app', at('delete on throttle')],
    ['of an app', at('insert on audit_event')],
    ['of an app', atCommit('audit_event')],
    ['by email', at('delete on email_code')],
    ['by email', at('insert on email_factor')],
    ['for recovery', at('update on recovery_code')],
    ['that confirms an app', at('insert on totp')],
    ['that confirms an app', at('delete on pending_totp')],
    ['that confirms an app', at('insert on recovery_code')],
    ['that confirms an app', at('insert on shown_recovery_codes')],
    ['that confirms an app', atCommit('job')],
  ])('%s, %s', async (kind, timing) => {
    const { code, cookies } = await (codes[kind] as (typeof codes)[string])();
    const state = await stateOf(portal);
    const query = '?remember=true';
    await withFault(portal, timing, async () => {
      const call = await verify(portal, code, cookies, { query });
      expect([call.statusCode, call.headers['retry-after'], call.cookies]).toEqual([503, '5', []]);
      const page = await verifyByForm(portal, { code, remember: 'on' }, cookies);
      expect([page.statusCode, page.headers['retry-after'], page.cookies]).toEqual([503, '5', []]);
      expect(page.body).not.toContain(code);
    });
    expect(await stateOf(portal)).toEqual(state);
    const answer = await verify(portal, code, cookies, { query });
    expect(await signedInAs(portal, cookiesOf(answer))).toBeTruthy();
  });
});

describe('V2.3.3 a fault on the way to a code', () => {
  it.each([
    ['in the half session', at('update on session')],
    ['for the account', at('insert on throttle')],
  ])('RL-09 at the count of a code %s: it is counted nowhere, and not checked', async (_what, timing) => {
    const { code, cookies } = await (codes['of an app'] as (typeof codes)[string])();
    const state = await stateOf(portal, true);
    await withFault(portal, timing, async () => {
      expect((await verify(portal, code, cookies)).statusCode).toBe(503);
    });
    expect(await stateOf(portal, true)).toEqual(state);
    expect((await verify(portal, code, cookies)).body).toBe('true');
  });

  it('BF-10 at the record of a wrong code: it stays counted', async () => {
    const secret = await giveApp(portal, 'alice');
    const cookies = await halfSession(portal, 'alice');
    await withFault(portal, at('insert on audit_event'), async () => {
      for (const code of wrongCodes(portal, secret, limits.codeTries))
        expect((await verify(portal, code, cookies)).statusCode).toBe(503);
      expect((await verify(portal, codeNow(portal, secret), cookies)).statusCode).toBe(401);
    });
    const failures = limits.codeTries;
    expect(await portal.sql`select failures from throttle where key like 'code:%'`).toEqual([{ failures }]);
  });
});

describe('what happens while somebody signs in', () => {
  /** For concurrent changes, for holding rows, and for seeing who waits. */
  const pool = poolOfFile(portal);

  const remember = { query: '?remember=true' };
  const elsewhere = { from: '203.0.113.66' };
  const signInElsewhere = (username: string, cookies: Browser = {}) =>
    portal.signIn(username, testPassword, { cookies, ...elsewhere });
  const halfSessions = () => pool`select waits_for as "waitsFor" from session where stage = 'half'`;

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

    it('RC-07 two tabs of one browser share one session: each step ends the one before, and nobody is signed out', async () => {
      let jar = cookiesOf(await portal.signIn('bob', testPassword));
      const first = { ...jar };
      portal.wait(60_000);
      jar = { ...jar, ...cookiesOf(await portal.signIn('bob', testPassword, { cookies: jar })) };
      const code = await codeByMail(portal, 'bob');
      const late = await verifyByForm(portal, { code }, first);
      expect(late.headers.location).toContain('notice=signInExpired');
      const [one, other] = await Promise.all([
        verifyByForm(portal, { code }, jar),
        verifyByForm(portal, { code }, jar),
      ]);
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

  describe('EM-10 another email of a user ends what codes to the one before could open', () => {
    const changeEmail = (email = 'bob@new.test') => changeUser(pool, 'bob', { email }, portal.by());
    it('EM-10 a sent code, with its half session; one whose email is waiting is not sent', async () => {
      const half = await halfSession(portal, 'bob');
      const code = await codeByMail(portal, 'bob');
      await halfSession(portal, 'bob', elsewhere);
      expect(await changeEmail()).toMatchObject({ kind: 'changed', sessionsEnded: 2 });
      expect(verdict(await verify(portal, code, half, remember))).toEqual([401, 'signInExpired']);
      await portal.workOff();
      expect(portal.mails.filter(({ subject }) => /code/.test(subject))).toHaveLength(1);
    });
  });
});
