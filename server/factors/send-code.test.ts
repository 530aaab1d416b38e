import type { Response } from 'light-my-request';
import { beforeEach, describe, expect, it } from 'vitest';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import {
  type Browser,
  codeByMail,
  giveApp,
  halfSession,
  pageOf,
  sendUrl,
  startTwoFactorAfresh,
  verdict,
  verify,
} from '#test/support/two-factor-for-test.ts';
import { limits } from '../limits.ts';

let cookies: Browser;
const portal = portalOfFile();
beforeEach(async () => {
  await startTwoFactorAfresh(portal);
  cookies = await halfSession(portal, 'bob');
});

const { emailCodeSends, emailCodeSendEvery } = limits;
const page = { url: '/portal/twoFactorRegistration?codeSentViaEmail=true' };

/** Requests another code as a script does. */
const send = (held = cookies, headers: Record<string, string> = {}) =>
  portal.send({ method: 'POST', url: sendUrl, cookies: held, headers: { accept: '*/*', ...headers } });
/** Requests another code as a person without JavaScript does. */
const sendForm = async (form: Record<string, string>, held = cookies, query = '') =>
  (await portal.send({ method: 'POST', url: sendUrl + query, form, cookies: held })).headers.location;
const outcome = ({ statusCode, headers }: Response) => [statusCode, headers['retry-after']];

describe('another code', () => {
  it('is sent half a minute after the last one, and until then says how long to wait', async () => {
    const soon = await send();
    expect([...outcome(soon), soon.json().notice]).toEqual([429, '30', 'codeTooSoon']);
    portal.wait(emailCodeSendEvery - 1);
    expect(outcome(await send())).toEqual([429, '1']);
    portal.wait(1);
    const answers = await Promise.all(Array.from({ length: 20 }, () => send()));
    expect(answers.filter(({ statusCode }) => statusCode === 204).map(outcome)).toEqual([[204, '30']]);
    // The first of the two that waited together is no longer valid, so it is not sent.
    expect(verdict(await verify(portal, await codeByMail(portal, 'bob'), cookies))).toBe(true);
    expect(portal.mails).toHaveLength(1);
  });

  it('LK-03 is sent three times in one half session, however often it is requested', async () => {
    const statuses: number[] = [];
    for (let count = 0; count < 40; count += 1) {
      statuses.push((await send()).statusCode);
      portal.wait(limits.halfSession / 41);
      await portal.workOff();
    }
    expect(statuses.filter((status) => status === 204)).toHaveLength(emailCodeSends - 1);
    expect(portal.mails).toHaveLength(emailCodeSends);
    expect(outcome(await send())).toEqual([429, undefined]);
    expect((await pageOf(portal, { ...page, cookies })).secondFactor?.sendAgainAfter).toBeNull();
    const code = portal.mails.at(-1)?.text.slice(-6) ?? '';
    expect(verdict(await verify(portal, code, cookies))).toBe(true);
  });

  it('LK-03 is limited for an account over its half sessions, including its emails', async () => {
    const { freeFailures, leakEvery } = limits.throttle.code;
    const hour = portal.deps.now().getTime() + 3_600_000;
    let held = cookies;
    for (; portal.deps.now().getTime() < hour; held = await halfSession(portal, 'bob')) {
      for (let count = 0; count < emailCodeSends; count += 1) {
        portal.wait(emailCodeSendEvery);
        await send(held);
        await portal.workOff();
      }
    }
    expect(portal.mails.length).toBeGreaterThan(freeFailures);
    expect(portal.mails.length).toBeLessThanOrEqual(freeFailures + 3_600_000 / leakEvery);
  });

  it('without JavaScript leads back to the form with a notice, the destination kept', async () => {
    const form = { redirectURL: '/portal/x?y=1', codeSentViaEmail: 'true' };
    const back = (notice: string) =>
      `/portal/twoFactor?redirectURL=%2Fportal%2Fx%3Fy%3D1&codeSentViaEmail=true&notice=${notice}&lang=de`;
    expect(await sendForm(form, cookies, '?lang=de')).toBe(back('codeTooSoon'));
    portal.wait(emailCodeSendEvery);
    expect(await sendForm(form, cookies, '?lang=de')).toBe(back('codeSent'));
    await portal.sql`update email_code set sent = ${emailCodeSends}`;
    // The page itself says that no more are sent.
    expect(await sendForm(form, cookies, '?lang=de')).toBe(back('').replace('&notice=', ''));
    const gone = '/portal/login?notice=signInExpired&destination=%2Fportal%2Fx%3Fy%3D1&lang=de';
    expect(await sendForm(form, {}, '?lang=de')).toBe(gone);
  });

  it('MF-09 SE-05 is sent only to a half session that waits for one', async () => {
    await giveApp(portal, 'alice');
    const app = await halfSession(portal, 'alice');
    const full = (await portal.signIn('pat', 'Lantern-Harbour-42')).cookies[0]?.value ?? '';
    portal.wait(emailCodeSendEvery);
    for (const held of [{}, app, { 'vestibule-session': full }, { 'vestibule-session': 'x'.repeat(43) }]) {
      const answer = await send(held as Browser);
      expect([answer.statusCode, answer.json().notice]).toEqual([401, 'signInExpired']);
    }
    portal.wait(limits.halfSession);
    expect((await send()).statusCode).toBe(401);
  });
});

describe('while the account waits', () => {
  const wait = 2 * limits.throttle.code.firstWait;
  beforeEach(async () => {
    const until = new Date(portal.deps.now().getTime() + wait);
    await portal.sql`update throttle set blocked_until = ${until} where key like 'code-mail:%'`;
  });

  it('LK-03 another code is reported as unavailable, with how long to wait, and recorded once', async () => {
    const until = new Date(portal.deps.now().getTime() + wait).toISOString();
    cookies = await halfSession(portal, 'bob');
    const shown = async () => (await pageOf(portal, { ...page, cookies })).secondFactor;
    expect(await shown()).toMatchObject({ isCodeNotSent: true, sendAgainAfter: wait / 1000 });
    portal.wait(wait - 1);
    expect(await shown()).toMatchObject({ isCodeNotSent: true, sendAgainAfter: 1 });
    const pressed = await send(cookies);
    expect([...outcome(pressed), pressed.json().notice]).toEqual([429, '1', 'codeNotSent']);
    const form = { codeSentViaEmail: 'true' };
    expect(await sendForm(form, cookies)).toBe('/portal/twoFactor?codeSentViaEmail=true&notice=codeNotSent');
    const steps = [{ step: 'throttle', outcome: `emails with a code to this account: wait until ${until}` }];
    expect(await portal.sql`select username, steps from audit_event where event = 'code-not-sent'`).toEqual([
      { username: 'bob', steps },
    ]);
    portal.wait(1);
    expect(outcome(await send(cookies))).toEqual([204, '30']);
    expect(await shown()).not.toHaveProperty('isCodeNotSent');
    expect(verdict(await verify(portal, await codeByMail(portal, 'bob'), cookies))).toBe(true);
  });
});
