import { describe, expect, it } from 'vitest';
import { signedInAs } from '#test/support/accounts-for-test.ts';
import { cookiesOf } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { atCommit, stateOf, withFault } from '#test/support/rows-for-test.ts';
import {
  askForKey,
  type Browser,
  codeByMail,
  codeNow,
  giveApp,
  giveRecoveryCodes,
  halfSession,
  startTwoFactorAfresh,
  verify,
  verifyByForm,
  wrongCodes,
} from '#test/support/two-factor-for-test.ts';
import { limits } from '../limits.ts';

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
