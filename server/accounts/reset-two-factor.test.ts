import { describe, expect, it } from 'vitest';
import { limits } from '#server/limits.ts';
import { signedInAs } from '#test/support/accounts-for-test.ts';
import { testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import {
  codeNow,
  giveApp,
  halfSession,
  registerApp,
  startTwoFactorAfresh,
  step,
  verdict,
  verify,
  wrongCodes,
} from '#test/support/two-factor-for-test.ts';
import { composeText } from '../mail/compose-mail.ts';
import { resetTwoFactor } from './reset-two-factor.ts';

const portal = portalOfFile({ each: startTwoFactorAfresh });

const reset = (name: string) => resetTwoFactor(portal.sql, name, portal.by());

async function mailsSince(work: () => Promise<unknown>): Promise<[string, string][]> {
  await portal.sql`delete from job`;
  portal.mails.length = 0;
  await work();
  await portal.workOff();
  return portal.mails.map(({ recipient, subject }) => [recipient, subject]);
}

describe('a second factor removed by an operator', () => {
  it('is gone with everything that depends on it, and the user is notified; the next sign-in registers a new one', async () => {
    const { secret, cookies } = await registerApp(portal, await halfSession(portal, 'alice'));
    portal.wait(step);
    const half = await halfSession(portal, 'alice');
    await verify(portal, codeNow(portal, secret), half, { query: '?remember=true' });
    const other = await halfSession(portal, 'alice');
    const mails = await mailsSince(async () => {
      expect(await reset('ALICE@acme.test')).toEqual({ kind: 'removed', sessionsEnded: 3 });
    });
    const subject = composeText({ language: 'en', texts: {} }, 'mail-secondFactorRemoved-subject', {
      hub: 'Vestibule',
    });
    expect(mails).toEqual([['alice@acme.test', subject]]);
    for (const table of 'totp pending_totp recovery_code shown_recovery_codes remembered_device session'.split(' '))
      expect(await portal.sql`select from ${portal.sql(table)}`, table).toEqual([]);
    expect(await signedInAs(portal, cookies)).toBeNull();
    expect(verdict(await verify(portal, codeNow(portal, secret, 1), other))).toEqual([401, 'signInExpired']);
    const next = await portal.signIn('alice', testPassword);
    expect(next.headers.location).toMatch(/^\/portal\/twoFactorRegistration\?/);
    const again = await registerApp(portal, await halfSession(portal, 'alice'));
    expect(again.secret).not.toBe(secret);
  });

  it('ends the wait for its codes', async () => {
    const secret = await giveApp(portal, 'alice');
    for (let count = 0; count < 3; count += 1) {
      const cookies = await halfSession(portal, 'alice');
      for (const code of wrongCodes(portal, secret, limits.codeTries)) await verify(portal, code, cookies);
    }
    await reset('alice');
    expect((await registerApp(portal, await halfSession(portal, 'alice'))).secret).toBeTruthy();
  });
});
