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
import { unlockUser } from '../accounts/act-on-user.ts';
import { limits } from '../limits.ts';

let cookies: Browser;
const portal = portalOfFile();
beforeEach(async () => {
  await startTwoFactorAfresh(portal);
  cookies = await halfSession(portal, 'bob');
});

const { emailCodeSends, emailCodeSendEvery } = limits;

/** Requests another code as a script does. */
const send = (held = cookies, headers: Record<string, string> = {}) =>
  portal.send({ method: 'POST', url: sendUrl, cookies: held, headers: { accept: '*/*', ...headers } });
/** Requests another code as a person without JavaScript does. */
const sendForm = async (form: Record<string, string>, held = cookies, query = '') =>
  (await portal.send({ method: 'POST', url: sendUrl + query, form, cookies: held })).headers.location;
const outcome = ({ statusCode, headers }: Response) => [statusCode, headers['retry-after']];

async function mailsSent(): Promise<number> {
  portal.wait(1000);
  await portal.workOff();
  return portal.mails.length;
}

describe('another code', () => {
  it('is sent half a minute after the last one, and until then says how long to wait', async () => {
    const soon = await send();
    expect(outcome(soon)).toEqual([429, '30']);
    expect(soon.headers['content-type']).toBe('application/problem+json; charset=utf-8');
    portal.wait(emailCodeSendEvery - 1);
    expect(outcome(await send())).toEqual([429, '1']);
    portal.wait(1);
    expect(outcome(await send())).toEqual([204, '30']);
    expect(outcome(await send())).toEqual([429, '30']);
    // The first of the two that waited together is no longer valid, so it is not sent.
    expect(await mailsSent()).toBe(1);
    expect(verdict(await verify(portal, await codeByMail(portal, 'bob'), cookies))).toBe(true);
  });

  it('LK-03 is sent three times in one half session, however often it is requested', async () => {
    const statuses: number[] = [];
    for (let count = 0; count < 100; count += 1) {
      statuses.push((await send()).statusCode);
      portal.wait(limits.halfSession / 101);
      await portal.workOff();
    }
    expect(statuses.filter((status) => status === 204)).toHaveLength(emailCodeSends - 1);
    expect(new Set(statuses)).toEqual(new Set([204, 429]));
    expect(portal.mails).toHaveLength(emailCodeSends);
    expect(outcome(await send())).toEqual([429, undefined]);
    const page = await pageOf(portal, { url: '/portal/twoFactorRegistration?codeSentViaEmail=true', cookies });
    expect(page.secondFactor?.sendAgainAfter).toBeNull();
    const code = portal.mails.at(-1)?.text.slice(-6) ?? '';
    expect(verdict(await verify(portal, code, cookies))).toBe(true);
  });

  it('LK-03 of other half sessions does not affect this one, whose code still works', async () => {
    const code = await codeByMail(portal, 'bob');
    for (let count = 0; count < 3; count += 1) {
      const other = await halfSession(portal, 'bob', { from: '192.0.2.1' });
      portal.wait(emailCodeSendEvery);
      expect((await send(other)).statusCode).toBe(204);
    }
    expect(verdict(await verify(portal, code, cookies))).toBe(true);
  });

  it('LK-03 is limited for an account over its half sessions, including its emails', async () => {
    const { freeFailures, firstWait, leakEvery } = limits.throttle.code;
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
    expect(portal.mails.every(({ recipient }) => recipient === 'bob@acme.test')).toBe(true);
    // A sign-in that gets no more emails says so by its button, which waits for the account.
    await portal.sql`update throttle set blocked_until = ${new Date(portal.deps.now().getTime() + firstWait)} where key like 'code-mail:%'`;
    const without = await halfSession(portal, 'bob');
    expect(outcome(await send(without))).toEqual([429, String(firstWait / 1000)]);
    portal.wait(firstWait);
    expect((await send(without)).statusCode).toBe(204);
    expect(verdict(await verify(portal, await codeByMail(portal, 'bob'), without))).toBe(true);
  });

  describe('while the account waits', () => {
    const page = { url: '/portal/twoFactorRegistration?codeSentViaEmail=true' };
    const wait = 2 * limits.throttle.code.firstWait;
    const notSent = async () =>
      await portal.sql`select user_id, username, address, request_id, steps from audit_event where event = 'code-not-sent'`;
    beforeEach(async () => {
      const until = new Date(portal.deps.now().getTime() + wait);
      await portal.sql`update throttle set blocked_until = ${until} where key like 'code-mail:%'`;
    });

    it('LK-03 is reported as unavailable, on every load, with how long to wait', async () => {
      cookies = await halfSession(portal, 'bob');
      expect(
        await portal.sql`select from job where user_id = (select id from portal_user where username = 'bob')`,
      ).toHaveLength(1);
      for (const left of [wait, wait - 1000, 1]) {
        const { secondFactor } = await pageOf(portal, { ...page, cookies });
        expect(secondFactor).toMatchObject({ isCodeNotSent: true, sendAgainAfter: Math.ceil(left / 1000) });
        if (left > 1) portal.wait(left === wait ? 1000 : wait - 1001);
      }
      const pressed = await send(cookies);
      expect([...outcome(pressed), pressed.json().notice]).toEqual([429, '1', 'codeNotSent']);
      portal.wait(1);
      expect((await pageOf(portal, { ...page, cookies })).secondFactor).toMatchObject({ sendAgainAfter: 0 });
      expect(outcome(await send(cookies))).toEqual([204, '30']);
      expect((await pageOf(portal, { ...page, cookies })).secondFactor).not.toHaveProperty('isCodeNotSent');
      expect(verdict(await verify(portal, await codeByMail(portal, 'bob'), cookies))).toBe(true);
    });

    it('is reported without JavaScript by its own notice, not as just sent', async () => {
      cookies = await halfSession(portal, 'bob');
      expect(await sendForm({ codeSentViaEmail: 'true' }, cookies)).toBe(
        '/portal/twoFactor?codeSentViaEmail=true&notice=codeNotSent',
      );
    });

    it('is recorded once per sign-in, with its end', async () => {
      const until = new Date(portal.deps.now().getTime() + wait).toISOString();
      cookies = await halfSession(portal, 'bob');
      await send(cookies);
      const steps = [{ step: 'throttle', outcome: `emails with a code to this account: wait until ${until}` }];
      expect(await notSent()).toMatchObject([{ username: 'bob', address: '198.51.100.7', steps }]);
      portal.wait(wait);
      await halfSession(portal, 'bob');
      expect(await notSent()).toHaveLength(1);
    });

    it('if this half session just had one, the page says so, and the longer wait', async () => {
      const soon = await send();
      expect([...outcome(soon), soon.json().notice]).toEqual([429, '60', 'codeTooSoon']);
      expect((await pageOf(portal, { ...page, cookies })).secondFactor?.sendAgainAfter).toBe(60);
      expect((await pageOf(portal, { ...page, cookies })).secondFactor).not.toHaveProperty('isCodeNotSent');
    });

    it('is sent again immediately after an unlock', async () => {
      cookies = await halfSession(portal, 'bob');
      expect(await unlockUser(portal.sql, 'bob', portal.deps.now())).toBe(true);
      expect(outcome(await send(cookies))).toEqual([204, '30']);
    });
  });

  it('is sent once if many are requested at once', async () => {
    portal.wait(emailCodeSendEvery);
    const answers = await Promise.all(Array.from({ length: 20 }, () => send()));
    expect(answers.filter(({ statusCode }) => statusCode === 204)).toHaveLength(1);
    expect(await portal.sql`select sent from email_code`).toEqual([{ sent: 2 }]);
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
    expect(await sendForm({}, {})).toBe('/portal/login?notice=signInExpired');
    expect(await sendForm({ redirectURL: 'https://evil.example/' }, {})).toMatch(/^\/portal\/login\?/);
  });

  it('MF-09 SE-05 is sent only to a half session that waits for one', async () => {
    await mailsSent();
    await giveApp(portal, 'alice');
    const app = await halfSession(portal, 'alice');
    const full = (await portal.signIn('pat', 'Lantern-Harbour-42')).cookies[0]?.value ?? '';
    portal.wait(emailCodeSendEvery);
    const held: Browser[] = [{}, app, { 'vestibule-session': full }, { 'vestibule-session': 'x'.repeat(43) }];
    for (const browser of held) {
      const answer = await send(browser);
      expect([answer.statusCode, answer.json().notice]).toEqual([401, 'signInExpired']);
    }
    portal.wait(limits.halfSession);
    expect((await send()).statusCode).toBe(401);
    expect(await mailsSent()).toBe(1);
  });

  it('is requested only by our own page, by a form or an empty body (CS-01, LM-10)', async () => {
    portal.wait(emailCodeSendEvery);
    expect((await send(cookies, { origin: 'https://evil.example' })).statusCode).toBe(403);
    expect((await send(cookies, { 'sec-fetch-site': 'cross-site' })).statusCode).toBe(403);
    for (const type of ['application/json', 'text/plain']) {
      const answer = await portal.send({
        method: 'POST',
        url: sendUrl,
        cookies,
        body: '"x"',
        headers: { 'content-type': type },
      });
      expect(answer.statusCode).toBe(415);
    }
    for (const body of ['redirectURL=a&redirectURL=b', 'redirectURL=%00', 'redirectURL=%ff'])
      expect((await portal.send({ method: 'POST', url: sendUrl, cookies, body })).statusCode).toBe(400);
    expect(await portal.sql`select sent from email_code`).toEqual([{ sent: 1 }]);
  });
});
