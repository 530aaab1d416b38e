import { describe, expect, it } from 'vitest';
import { limits } from '#server/limits.ts';
import { cookiesOf, testPassword } from '#testing/portal-for-test.ts';
import { portalOfFile } from '#testing/portal-of-file.ts';
import {
  type Browser,
  codeByMail,
  halfSession,
  pageOf,
  startTwoFactorAfresh,
  verdict,
  verify,
} from '#testing/two-factor-for-test.ts';

const portal = portalOfFile({ each: startTwoFactorAfresh });

const screen = '/portal/twoFactorRegistration?codeSentViaEmail=true';

describe('the mail of a sign-in', () => {
  it('is separate for two sign-ins further apart, from another address, or of another user', async () => {
    await halfSession(portal, 'bob');
    await halfSession(portal, 'beth');
    await halfSession(portal, 'bob', { from: '192.0.2.1' });
    portal.wait(limits.samePress);
    await halfSession(portal, 'bob');
    await codeByMail(portal, 'bob');
    expect(portal.mails).toHaveLength(4);
    expect(await portal.sql`select from session where stage = 'half'`).toHaveLength(4);
  });

  it('EM-04 is separate in two browsers behind one address, known or not, and each code works in its own', async () => {
    const known = await portal.signIn('pat', testPassword);
    const device = { 'vestibule-device': cookiesOf(known)['vestibule-device'] as string };
    const browsers: Browser[] = [];
    for (const more of [{ cookies: device }, {}, { headers: { 'user-agent': 'Mozilla/5.0 another' } }]) {
      browsers.push(await halfSession(portal, 'bob', more));
      portal.wait(1);
    }
    portal.wait(limits.samePress);
    await portal.workOff();
    expect(portal.mails).toHaveLength(3);
    for (const [at, cookies] of browsers.entries()) {
      const code = portal.mails[at]?.text.match(/#(\d{6})$/)?.[1];
      expect(verdict(await verify(portal, code, cookies)), `${at}`).toBe(true);
    }
  });

  it('is not sent again by a reload, Back, or another language', async () => {
    const cookies = await halfSession(portal, 'bob');
    for (let count = 0; count < 5; count += 1) {
      portal.wait(60_000);
      const page = await pageOf(portal, { url: `${screen}&lang=${count % 2 ? 'de' : 'it'}`, cookies });
      expect(page.secondFactor).toMatchObject({ account: 'bob', sendAgainAfter: 0 });
      await portal.workOff();
    }
    expect(portal.mails).toHaveLength(1);
    expect(verdict(await verify(portal, portal.mails[0]?.text.slice(-6), cookies))).toBe(true);
  });

  it('replaces the previous one when the browser signs in again', async () => {
    const first = await halfSession(portal, 'bob');
    const old = await codeByMail(portal, 'bob');
    const second = await halfSession(portal, 'bob', { cookies: first });
    expect(verdict(await verify(portal, old, second))).toBe(false);
    expect(verdict(await verify(portal, await codeByMail(portal, 'bob'), second))).toBe(true);
    expect(await portal.sql`select from email_code`).toEqual([]);
  });

  it('is not sent if its half session ends first: by cancel, or with its user', async () => {
    const cookies = await halfSession(portal, 'bob');
    await portal.send({ method: 'POST', url: '/portal/logout', cookies });
    await halfSession(portal, 'beth');
    await portal.sql`delete from portal_user where username = 'beth'`;
    expect(await portal.sql`select from email_code`).toEqual([]);
    portal.wait(limits.samePress);
    await portal.workOff();
    expect([portal.mails, await portal.sql`select from mail`]).toEqual([[], []]);
  });
});
