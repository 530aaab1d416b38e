import { describe, expect, it } from 'vitest';
import { limits } from '#server/limits.ts';
import { cookiesOf } from '#testing/portal-for-test.ts';
import { otherInstanceOfFile, portalOfFile } from '#testing/portal-of-file.ts';
import { signedInAs } from '#testing/signed-in-as.ts';
import {
  type Browser,
  codeByMail,
  codeNow,
  giveApp,
  giveRecoveryCodes,
  halfSession,
  recoveryCodesShown,
  registrationUrl,
  startTwoFactorAfresh,
  triesCounted,
  verdict,
  verify,
} from '#testing/two-factor-for-test.ts';

// The line breaks after the server has taken a right code from a script: the page says that it did not work and keeps
// the digits, the browser keeps the cookies from before, and the person presses again (docs/decisions/0047).
const portal = portalOfFile({ each: startTwoFactorAfresh });
const another = otherInstanceOfFile(portal);

function wait(time: number): void {
  portal.wait(time);
  another.wait(time);
}

const expired = [401, 'signInExpired'];

const verifyAgain = (code: string, cookies: Browser, { at = portal, headers = {}, from = '198.51.100.7' } = {}) =>
  verify(at, code, cookies, { headers: { 'vestibule-again': 'true', ...headers }, from });
const verifyFirst = (code: string, cookies: Browser) => verify(portal, code, cookies, { from: '198.51.100.7' });

describe('a right code that a script sends again after its answer was lost', () => {
  it('RC-02 signs in, with the session and the cookies of the first, for a minute', async () => {
    const secret = await giveApp(portal, 'alice');
    const cookies = await halfSession(portal, 'alice', { from: '198.51.100.7' });
    const code = codeNow(portal, secret);
    const first = cookiesOf(await verifyFirst(code, cookies));
    wait(limits.responseUnread - 1);
    const again = await verifyAgain(code, cookies, { at: another });
    expect(verdict(again)).toBe(true);
    for (const name of ['vestibule-session', 'vestibule-device'])
      expect(cookiesOf(again)[name], name).toBe(first[name]);
    expect(await signedInAs(portal, { ...cookies, ...cookiesOf(again) })).toBe('alice');
    expect(await portal.sql`select from session`).toHaveLength(1);
    expect(await portal.sql`select from audit_event where event = 'signed-in'`).toHaveLength(1);
    wait(1);
    expect(verdict(await verifyAgain(code, cookies))).toEqual(expired);
    expect(await signedInAs(portal, first)).toBe('alice');
  });

  it('signs in by a code by email, and by a recovery code, whose page follows', async () => {
    const bob = await halfSession(portal, 'bob');
    const mailed = await codeByMail(portal, 'bob');
    await verifyFirst(mailed, bob);
    expect(await signedInAs(portal, cookiesOf(await verifyAgain(mailed, bob)))).toBe('bob');
    await giveApp(portal, 'alice');
    const [code = ''] = await giveRecoveryCodes(portal, 'alice');
    const alice = await halfSession(portal, 'alice');
    await verifyFirst(code, alice);
    const again = await verifyAgain(code, alice);
    expect(again.headers['vestibule-next']).toBe('recoveryCodes');
    expect(await signedInAs(portal, cookiesOf(again))).toBe('alice');
  });

  it('shows the recovery codes of an app that it registered', async () => {
    const cookies = await halfSession(portal, 'alice');
    const { totpSecret } = (await portal.send({ url: registrationUrl, cookies })).json<{ totpSecret: string }>();
    const code = codeNow(portal, totpSecret);
    await verifyFirst(code, cookies);
    const again = await verifyAgain(code, cookies);
    expect((await recoveryCodesShown(portal, { ...cookies, ...cookiesOf(again) })).codes).toHaveLength(10);
  });

  it('shows them, too, if the cookies of the answer arrived and the rest of it was lost', async () => {
    const before = await halfSession(portal, 'alice');
    const { totpSecret } = (await portal.send({ url: registrationUrl, cookies: before })).json<{
      totpSecret: string;
    }>();
    const code = codeNow(portal, totpSecret);
    const cookies = { ...before, ...cookiesOf(await verifyFirst(code, before)) };
    const again = await verifyAgain(code, cookies);
    expect([verdict(again), again.headers['vestibule-next'], again.cookies]).toEqual([true, 'recoveryCodes', []]);
    expect((await recoveryCodesShown(portal, cookies)).codes).toHaveLength(10);
  });

  it('MF-01 RC-02 is refused without saying so, with another code, and from elsewhere; guesses count', async () => {
    const secret = await giveApp(portal, 'alice');
    const cookies = await halfSession(portal, 'alice');
    const code = codeNow(portal, secret);
    const first = await verifyFirst(code, cookies);
    expect(verdict(await verifyFirst(code, cookies))).toEqual(expired);
    expect(verdict(await verifyAgain(codeNow(portal, secret, 1), cookies))).toEqual(expired);
    for (const more of [{ headers: { 'user-agent': 'Mozilla/5.0 another' } }, { from: '192.0.2.9' }])
      expect(verdict(await verifyAgain(code, cookies, more))).toEqual(expired);
    expect(verdict(await verifyAgain(code, { 'vestibule-session': 's'.repeat(43) }))).toEqual(expired);
    expect(await portal.sql`select from audit_event where event = 'code-refused'`).toHaveLength(3);
    expect(await signedInAs(portal, cookiesOf(first))).toBe('alice');
  });

  it('MF-06 a wrong code counts each time', async () => {
    await giveApp(portal, 'alice');
    const cookies = await halfSession(portal, 'alice');
    for (let n = 0; n < 2; n += 1) expect(verdict(await verifyAgain('000000', cookies))).toBe(false);
    expect((await triesCounted(portal))[0]).toBe(2);
  });

  it('SE-09 is refused once the session has been signed out', async () => {
    const secret = await giveApp(portal, 'alice');
    const cookies = await halfSession(portal, 'alice');
    const code = codeNow(portal, secret);
    const first = { ...cookies, ...cookiesOf(await verifyFirst(code, cookies)) };
    await portal.send({ method: 'POST', url: '/portal/logout', form: {}, cookies: first });
    expect(verdict(await verifyAgain(code, cookies))).toEqual(expired);
  });
});
