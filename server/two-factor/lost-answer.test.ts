import { describe, expect, it } from 'vitest';
import { limits } from '#server/limits.ts';
import { cookiesOf } from '#testing/portal-for-test.ts';
import { otherInstanceOfFile, portalOfFile } from '#testing/portal-of-file.ts';
import { signedInAs } from '#testing/signed-in-as.ts';
import {
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

describe('a right code that a script sends again after its answer was lost', () => {
  it('signs in, with the session and the cookies of the first', async () => {
    const secret = await giveApp(portal, 'alice');
    const cookies = await halfSession(portal, 'alice');
    const code = codeNow(portal, secret);
    const first = await verify(portal, code, cookies);
    for (const time of [limits.samePress, limits.responseUnread - limits.samePress - 1]) {
      wait(time);
      const again = await verify(another, code, cookies);
      expect(verdict(again)).toBe(true);
      const { 'vestibule-signed-in': _, ...kept } = cookiesOf(again);
      expect(cookiesOf(first)).toMatchObject(kept);
      expect(await signedInAs(portal, { ...cookies, ...cookiesOf(again) })).toBe('alice');
    }
    expect(await portal.sql`select from session`).toHaveLength(1);
    expect(await portal.sql`select from audit_event where event = 'signed-in'`).toHaveLength(1);
    expect(await triesCounted(portal)).toEqual([0, 0, 0]);
  });

  it('signs in by a code by email, and by a recovery code, whose page follows', async () => {
    const bob = await halfSession(portal, 'bob');
    const mailed = await codeByMail(portal, 'bob');
    await verify(portal, mailed, bob);
    wait(limits.samePress);
    expect(await signedInAs(portal, cookiesOf(await verify(portal, mailed, bob)))).toBe('bob');
    await giveApp(portal, 'alice');
    const [code = ''] = await giveRecoveryCodes(portal, 'alice');
    const alice = await halfSession(portal, 'alice');
    await verify(portal, code, alice);
    wait(limits.samePress);
    const again = await verify(portal, code, alice);
    expect(again.headers['vestibule-next']).toBe('recoveryCodes');
    expect(await signedInAs(portal, cookiesOf(again))).toBe('alice');
  });

  it('shows the recovery codes of an app that it registered', async () => {
    const cookies = await halfSession(portal, 'alice');
    const { totpSecret } = (await portal.send({ url: registrationUrl, cookies })).json<{ totpSecret: string }>();
    const code = codeNow(portal, totpSecret);
    await verify(portal, code, cookies);
    wait(limits.samePress);
    const again = await verify(portal, code, cookies);
    expect((await recoveryCodesShown(portal, { ...cookies, ...cookiesOf(again) })).codes).toHaveLength(10);
  });

  it('MF-01 RC-02 is refused at once, after a minute, with another code, from elsewhere, and after a sign-out', async () => {
    const secret = await giveApp(portal, 'alice');
    const cookies = await halfSession(portal, 'alice');
    const code = codeNow(portal, secret);
    const first = await verify(portal, code, cookies);
    wait(limits.samePress - 1);
    expect(verdict(await verify(portal, code, cookies))).toEqual(expired);
    wait(1);
    expect(verdict(await verify(portal, codeNow(portal, secret, 1), cookies))).toEqual(expired);
    const otherBrowser = { headers: { 'user-agent': 'Mozilla/5.0 another' } };
    for (const more of [otherBrowser, { from: '192.0.2.9' }])
      expect(verdict(await verify(portal, code, cookies, more))).toEqual(expired);
    expect(await portal.sql`select from audit_event where event = 'code-refused'`).toHaveLength(3);
    expect(verdict(await verify(portal, code, cookies))).toBe(true);
    wait(limits.responseUnread - limits.samePress);
    expect(verdict(await verify(portal, code, cookies))).toEqual(expired);
    expect(await signedInAs(portal, cookiesOf(first))).toBe('alice');
  });

  it('SE-09 is refused once the session has been signed out', async () => {
    const secret = await giveApp(portal, 'alice');
    const cookies = await halfSession(portal, 'alice');
    const code = codeNow(portal, secret);
    const first = await verify(portal, code, cookies);
    await portal.send({ method: 'POST', url: '/portal/logout', form: {}, cookies: { ...cookies, ...cookiesOf(first) } });
    wait(limits.samePress);
    expect(verdict(await verify(portal, code, cookies))).toEqual(expired);
  });
});
