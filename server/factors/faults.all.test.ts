import { describe, expect, it } from 'vitest';
import { signedInAs } from '#test/support/accounts-for-test.ts';
import { cookiesOf, testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { userId } from '#test/support/reset-for-test.ts';
import { atCommit, stateOf, withFault } from '#test/support/rows-for-test.ts';
import {
  type Browser,
  codeByMail,
  codeNow,
  giveApp,
  giveRecoveryCodes,
  halfSession,
  pageOf,
  registrationUrl,
  sendUrl,
  startTwoFactorAfresh,
  verify,
  verifyByForm,
  wrongCodes,
} from '#test/support/two-factor-for-test.ts';
import { limits } from '../limits.ts';

const portal = portalOfFile({ each: startTwoFactorAfresh });

/**
 * A right code meets a fault, with and without JavaScript: 503, and nothing but the count has changed; afterwards it
 * works.
 */
async function expectNothingHalf(timing: string, code: string, cookies: Browser): Promise<void> {
  const before = await stateOf(portal);
  const query = '?remember=true';
  await withFault(portal, timing, async () => {
    const call = await verify(portal, code, cookies, { query });
    expect([call.statusCode, call.headers['retry-after'], call.json().status]).toEqual([503, '5', 503]);
    expect(call.cookies).toEqual([]);
    const page = await verifyByForm(portal, { code, remember: 'on' }, cookies);
    expect([page.statusCode, page.headers['retry-after'], page.cookies]).toEqual([503, '5', []]);
    expect(page.body).not.toContain(code);
  });
  expect(await stateOf(portal)).toEqual(before);
  const answer = await verify(portal, code, cookies, { query });
  expect(answer.body).toBe('true');
  expect(await signedInAs(portal, cookiesOf(answer))).toBeTruthy();
}

/** Not at the count of the attempt. */
const atNextToken = 'before update of token_hash on session for each row';

describe('V2.3.3 a fault in the midst of a right code', () => {
  it.each([
    ['the step', 'before update on totp for each row'],
    ['the full session', atNextToken],
    ['the known browser', 'before insert on device for each row'],
    ['the remembered device', 'before insert on remembered_device for each row'],
    ['the count', 'before delete on throttle for each row'],
    ['the record', 'before insert on audit_event for each row'],
    ['the commit', atCommit('audit_event')],
  ])('of an app, at the write of %s, leaves nothing half done', async (_what, timing) => {
    const secret = await giveApp(portal, 'alice');
    await expectNothingHalf(timing, codeNow(portal, secret), await halfSession(portal, 'alice'));
  });

  it.each([
    ['the code', 'before delete on email_code for each row'],
    ['that codes arrive', 'before insert on email_factor for each row'],
    ['the full session', atNextToken],
  ])('by email, at the write of %s, leaves nothing half done', async (_what, timing) => {
    const cookies = await halfSession(portal, 'bob');
    await expectNothingHalf(timing, await codeByMail(portal, 'bob'), cookies);
  });

  it.each([
    ['the code', 'before update on recovery_code for each row'],
    ['the commit', atCommit('audit_event')],
  ])('for recovery, at the write of %s, leaves nothing half done', async (_what, timing) => {
    await giveApp(portal, 'alice');
    const [code = ''] = await giveRecoveryCodes(portal, 'alice');
    await expectNothingHalf(timing, code, await halfSession(portal, 'alice'));
  });

  it.each([
    ['the app', 'before insert on totp for each row'],
    ['the secret that was shown', 'before delete on pending_totp for each row'],
    ['the recovery codes', 'before insert on recovery_code for each row'],
    ['the codes to show', 'before insert on shown_recovery_codes for each row'],
    ['the notice', 'before insert on job for each row'],
    ['the commit', atCommit('job')],
  ])('that confirms an app, at the write of %s, leaves nothing half done', async (_what, timing) => {
    for (const cookies of [await halfSession(portal, 'alice'), cookiesOf(await portal.signIn('pat', testPassword))]) {
      const { totpSecret } = (await portal.send({ url: registrationUrl, cookies })).json<{ totpSecret: string }>();
      await expectNothingHalf(timing, codeNow(portal, totpSecret), cookies);
    }
  });
});

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
