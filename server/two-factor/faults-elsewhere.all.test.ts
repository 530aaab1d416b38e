import { describe, expect, it } from 'vitest';
import { limits } from '#server/limits.ts';
import { testPassword } from '#testing/portal-for-test.ts';
import { portalOfFile } from '#testing/portal-of-file.ts';
import { userId } from '#testing/reset-for-test.ts';
import {
  atCommit,
  codeByMail,
  codeNow,
  giveApp,
  halfSession,
  pageOf,
  registrationUrl,
  sendUrl,
  startTwoFactorAfresh,
  stateOf,
  verify,
  withFault,
  wrongCodes,
} from '#testing/two-factor-for-test.ts';

const portal = portalOfFile({ each: startTwoFactorAfresh });

describe('V2.3.3 a fault on the way to a code', () => {
  it.each([
    ['in the half session', 'before update on session for each row'],
    ['for the account', 'before insert on throttle for each row'],
  ])('RL-09 at the count of a code %s: it is counted nowhere, and not checked', async (_what, timing) => {
    const secret = await giveApp(portal, 'alice');
    const cookies = await halfSession(portal, 'alice');
    const before = await stateOf(portal, true);
    await withFault(portal, timing, async () => {
      expect((await verify(portal, codeNow(portal, secret), cookies)).statusCode).toBe(503);
    });
    expect(await stateOf(portal, true)).toEqual(before);
    expect((await verify(portal, codeNow(portal, secret), cookies)).body).toBe('true');
  });

  it('BF-10 at the record of a wrong code: it stays counted', async () => {
    const secret = await giveApp(portal, 'alice');
    const cookies = await halfSession(portal, 'alice');
    await withFault(portal, 'before insert on audit_event for each row', async () => {
      for (const code of wrongCodes(portal, secret, limits.codeTries))
        expect((await verify(portal, code, cookies)).statusCode).toBe(503);
      expect((await verify(portal, codeNow(portal, secret), cookies)).statusCode).toBe(401);
    });
    expect(await portal.sql`select failures from throttle where key like 'code:%'`).toEqual([
      { failures: limits.codeTries },
    ]);
  });

  it.each([
    ['the code', 'before insert or update on email_code for each row'],
    ['the mail', 'before insert on job for each row'],
    ['the commit', atCommit('job')],
  ])('at the write of another code, of %s: the previous one still works, and none is sent', async (_what, timing) => {
    const cookies = await halfSession(portal, 'bob');
    const code = await codeByMail(portal, 'bob');
    portal.wait(limits.emailCodeSendEvery);
    const before = await stateOf(portal);
    await withFault(portal, timing, async () => {
      const call = await portal.send({ method: 'POST', url: sendUrl, cookies, headers: { accept: '*/*' } });
      expect([call.statusCode, call.headers['retry-after']]).toEqual([503, '5']);
      expect((await portal.signIn('beth', testPassword)).statusCode).toBe(503);
    });
    await portal.sql`delete from session where user_id = ${await userId(portal, 'beth')}`;
    await portal.sql`delete from audit_event where username = 'beth'`;
    expect(await stateOf(portal)).toEqual(before);
    expect((await verify(portal, code, cookies)).body).toBe('true');
  });

  it('at the write of a secret to show: 503, and the page says so too', async () => {
    const cookies = await halfSession(portal, 'alice');
    await withFault(portal, 'before insert on pending_totp for each row', async () => {
      const call = await portal.send({ url: registrationUrl, cookies });
      expect([call.statusCode, call.headers['retry-after']]).toEqual([503, '5']);
      const page = await pageOf(portal, { url: '/portal/twoFactorRegistration', cookies });
      expect([page.status, page.registration]).toEqual([200, undefined]);
    });
    expect((await portal.send({ url: registrationUrl, cookies })).statusCode).toBe(200);
  });
});
