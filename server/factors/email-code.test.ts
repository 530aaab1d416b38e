import type { Response } from 'light-my-request';
import { beforeEach, describe, expect, it } from 'vitest';
import { signedInAs } from '#test/support/accounts-for-test.ts';
import { testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { everyRow } from '#test/support/rows-for-test.ts';
import {
  type Browser,
  codeByMail,
  giveApp,
  halfSession,
  otherThan,
  pageOf,
  sendUrl,
  startTwoFactorAfresh,
  verdict,
  verify,
  verifyByForm,
} from '#test/support/two-factor-for-test.ts';
import { MailNotSent } from '../deps.ts';
import { jobFirstWait } from '../jobs/job.ts';
import { limits } from '../limits.ts';
import { newEmailCode } from './email-code.ts';

const portal = portalOfFile({ each: startTwoFactorAfresh });

const lastMail = () => portal.mails.at(-1) ?? { recipient: '', subject: '', text: '', html: '' };

describe('a code by email', () => {
  it('EM-02 works once', async () => {
    const cookies = await halfSession(portal, 'bob');
    const code = await codeByMail(portal, 'bob');
    expect(verdict(await verify(portal, otherThan(code), cookies))).toBe(false);
    expect(verdict(await verify(portal, code, cookies))).toBe(true);
    expect(verdict(await verify(portal, code, cookies))).toEqual([401, 'signInExpired']);
    expect(verdict(await verify(portal, code, await halfSession(portal, 'bob')))).toBe(false);
  });

  it('EM-03 expires once another one was requested, delivered or not', async () => {
    const cookies = await halfSession(portal, 'bob');
    const first = await codeByMail(portal, 'bob');
    portal.wait(limits.emailCodeSendEvery);
    await portal.send({ method: 'POST', url: sendUrl, cookies });
    expect(verdict(await verify(portal, first, cookies))).toBe(false);
    expect(verdict(await verify(portal, await codeByMail(portal, 'bob'), cookies))).toBe(true);
  });

  it.each([
    ['EM-04 of one browser does not work in another, of the same user', 'bob'],
    ['EM-05 of one user does not work for another', 'beth'],
  ])('%s', async (_what, other) => {
    const one = await halfSession(portal, 'bob');
    const ofOne = await codeByMail(portal, 'bob');
    const two = await halfSession(portal, other);
    const ofTwo = await codeByMail(portal, other);
    expect(verdict(await verify(portal, ofTwo, one))).toBe(false);
    expect(verdict(await verify(portal, ofOne, two))).toBe(false);
    expect([await signedInAs(portal, one), await signedInAs(portal, two)]).toEqual([null, null]);
    // Nor with its row copied to that half session.
    await portal.sql`update email_code set code_hash = (
      select code_hash from email_code order by made_at limit 1)`;
    expect(verdict(await verify(portal, ofOne, two))).toBe(false);
    expect(verdict(await verify(portal, ofOne, one))).toBe(true);
  });

  it('is valid for ten minutes, whatever else its sign-in has time for', async () => {
    for (const [late, expected] of [
      [-1, true],
      [0, false],
    ] as const) {
      const cookies = await halfSession(portal, 'bob');
      const code = await codeByMail(portal, 'bob');
      await portal.sql`update session set ends_at = 'infinity' where stage = 'half'`;
      portal.wait(limits.emailCode - 1000 + late);
      expect(verdict(await verify(portal, code, cookies))).toBe(expected);
    }
  });

  it('EM-08 waits while the mail server is down, lets nobody in without it, and is sent once', async () => {
    portal.onSend(async () => {
      throw new MailNotSent('away', 'no mail server');
    });
    const cookies = await halfSession(portal, 'bob');
    const left = await halfSession(portal, 'beth');
    portal.wait(1000);
    await portal.workOff();
    for (const code of ['000000', '', '      ']) await verify(portal, code, cookies);
    expect(await signedInAs(portal, cookies)).toBeNull();
    // Nor is one sent once its half session has ended.
    await portal.send({ method: 'POST', url: '/portal/logout', cookies: left });
    portal.onSend(async ({ id, recipient }, words) => void portal.mails.push({ id, recipient, ...words }));
    portal.wait(jobFirstWait);
    const code = await codeByMail(portal, 'bob');
    await portal.workOff();
    expect(portal.mails).toHaveLength(1);
    expect(verdict(await verify(portal, code, cookies))).toBe(true);
  });
});

describe('the email with a code', () => {
  it('EM-10 goes to the stored address, whatever was typed to sign in', async () => {
    for (const typed of ['BOB', 'ｂｏｂ', 'BOB@ACME.TEST', 'bob@acme.test.']) {
      portal.mails.length = 0;
      await halfSession(portal, typed);
      await codeByMail(portal, 'bob');
      expect(portal.mails.map(({ recipient }) => recipient)).toEqual(['bob@acme.test']);
    }
  });

  it('EM-09 has its code in the text and for autofill, not in the subject, and nothing to click', async () => {
    const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
    await halfSession(portal, 'bob', { headers: { 'user-agent': firefox } });
    const code = await codeByMail(portal, 'bob');
    const { subject, text, html } = lastMail();
    expect(subject).not.toMatch(/\d/);
    expect(text.endsWith(`\n@localhost #${code}`)).toBe(true);
    expect(text.split(code).length).toBeGreaterThan(2);
    expect(html.replace(/<[^>]*>/g, '')).toContain(code);
    expect(`${text}${html.replace(/<!doctype[^>]*>|xmlns="[^"]*"/gi, '')}`).not.toMatch(
      /https?:|<a\b|href=|<img|src=/i,
    );
    for (const fact of ['bob', '198.51.100.7', 'Firefox', 'March\u00a02026']) expect(text).toContain(fact);
  });

  it('EM-09 leaves its code in no log, answer or row, but for the sealed email that waits', async () => {
    const answers = [await portal.signIn('bob', testPassword)];
    const cookies = { 'vestibule-session': answers[0]?.cookies[0]?.value ?? '' };
    const waiting = await everyRow(portal);
    const sent = await codeByMail(portal, 'bob');
    answers.push(await verify(portal, otherThan(sent), cookies));
    answers.push(await verifyByForm(portal, { code: otherThan(sent) }, cookies));
    answers.push(await portal.send({ method: 'POST', url: sendUrl, cookies }));
    for (const path of ['twoFactor', 'login', 'session', 'portal.html'])
      answers.push(await portal.send({ url: `/portal/${path}?codeSentViaEmail=true`, cookies }));
    await verify(portal, sent, cookies);
    expect(waiting).toContain('signInCode');
    const bytes = Buffer.from(sent);
    const forms = [`(?<![0-9a-f])${sent}(?![0-9a-f])`, bytes.toString('hex'), bytes.toString('base64')];
    const plain = new RegExp(forms.join('|'), 'i');
    const shown = answers.map(({ headers, body }) => JSON.stringify(headers) + body);
    for (const text of [waiting, await everyRow(portal), portal.logs(), ...shown]) expect(plain.exec(text)).toBeNull();
  });
});

it('EM-06 codes are six digits, each position with every digit, including leading zeros', () => {
  const codes = Array.from({ length: 10_000 }, newEmailCode);
  expect(codes.filter((code) => !/^\d{6}$/.test(code))).toEqual([]);
  for (let at = 0; at < 6; at += 1) expect(new Set(codes.map((code) => code[at])).size).toBe(10);
});

describe('another code by email', () => {
  let cookies: Browser;
  beforeEach(async () => {
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
});
