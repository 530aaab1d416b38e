import { describe, expect, it } from 'vitest';
import type { Language } from '#contract/languages.ts';
import { testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { everyRow } from '#test/support/rows-for-test.ts';
import {
  codeByMail,
  halfSession,
  otherThan,
  sendUrl,
  startTwoFactorAfresh,
  verify,
  verifyByForm,
} from '#test/support/two-factor-for-test.ts';
import { minute } from '../limits.ts';
import { composeText } from '../mail/compose-mail.ts';

const portal = portalOfFile({ each: startTwoFactorAfresh });

const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
const lastMail = () => portal.mails.at(-1) ?? { recipient: '', subject: '', text: '', html: '' };

describe('the mail with a code', () => {
  it('EM-10 goes to the stored address, whatever was typed to sign in', async () => {
    for (const typed of ['bob', 'BOB', 'ｂｏｂ', 'BOB@ACME.TEST', 'bob@acme.test.']) {
      portal.mails.length = 0;
      await halfSession(portal, typed);
      await codeByMail(portal, 'bob');
      expect(portal.mails.map(({ recipient }) => recipient)).toEqual(['bob@acme.test']);
    }
    await portal.sql`update portal_user set email = 'robert@acme.test' where username = 'bob'`;
    await halfSession(portal, 'bob');
    await codeByMail(portal, 'robert');
  });

  it('EM-10 is in the user’s language, otherwise the page’s; a resend too', async () => {
    const subjects: string[] = [];
    for (const [language, search, accept] of [
      [null, '', 'it'],
      [null, '?lang=pl', 'it'],
      ['de', '?lang=pl', 'it'],
    ] as const) {
      await portal.sql`update portal_user set language = ${language} where username = 'bob'`;
      const headers = { 'accept-language': accept };
      const cookies = await halfSession(portal, 'bob', { url: `/portal/performlogin${search}`, headers });
      await codeByMail(portal, 'bob');
      subjects.push(lastMail().subject);
      portal.wait(60_000);
      await portal.send({ method: 'POST', url: sendUrl + search, cookies, headers });
      await codeByMail(portal, 'bob');
      subjects.push(lastMail().subject);
    }
    const words = (language: Language) => composeText(language, 'mail-signInCode-subject', { hub: 'Vestibule' });
    expect(subjects).toEqual(['it', 'it', 'pl', 'pl', 'de', 'de'].map((language) => words(language as Language)));
  });

  it('EM-09 EM-10 has its code in the text and for autofill, not in the subject, and nothing to click', async () => {
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

  it('says how long its code is valid: no longer than its sign-in', async () => {
    const headers = { accept: '*/*' };
    const cookies = await halfSession(portal, 'bob');
    await codeByMail(portal, 'bob');
    expect(lastMail().text).toContain('within 10\u00a0minutes');
    for (const [left, words] of [
      [6.5 * minute, '6\u00a0minutes'],
      [40_000, '40\u00a0seconds'],
    ] as const) {
      const [half] = await portal.sql<{ endsAt: Date }[]>`select ends_at as "endsAt" from session where stage = 'half'`;
      portal.wait((half?.endsAt.getTime() ?? 0) - portal.deps.now().getTime() - left);
      expect((await portal.send({ method: 'POST', url: sendUrl, cookies, headers })).statusCode).toBe(204);
      await codeByMail(portal, 'bob');
      expect(lastMail().text).toContain(`within ${words}`);
      const rows = await portal.sql`select from email_code c join session s on s.id = c.session_id
        where c.ends_at = s.ends_at`;
      expect(rows).toHaveLength(1);
    }
  });

  it('EM-09 leaves no code in the log, nor unencrypted in any row', async () => {
    const cookies = await halfSession(portal, 'bob');
    const waiting = await everyRow(portal);
    const sent = await codeByMail(portal, 'bob');
    await verify(portal, otherThan(sent), cookies);
    await verifyByForm(portal, { code: otherThan(sent) }, cookies);
    await verify(portal, sent, cookies);
    await verify(portal, sent, cookies);
    expect(waiting).toContain('signInCode');
    const bytes = Buffer.from(sent);
    const plain = new RegExp(
      `(?<![0-9a-f])${sent}(?![0-9a-f])|${bytes.toString('hex')}|${bytes.toString('base64')}`,
      'i',
    );
    for (const [what, text] of [
      ['rows while it waits', waiting],
      ['rows', await everyRow(portal)],
      ['log', portal.logs()],
    ])
      expect(plain.exec(text as string), what as string).toBeNull();
  });

  it('EM-09 is not shown to anyone not signed in, by any answer on the way', async () => {
    const answers = [await portal.signIn('bob', testPassword)];
    const cookies = { 'vestibule-session': answers[0]?.cookies[0]?.value ?? '' };
    const code = await codeByMail(portal, 'bob');
    answers.push(
      await verify(portal, otherThan(code), cookies),
      await portal.send({ method: 'POST', url: sendUrl, cookies }),
    );
    for (const path of ['twoFactor', 'twoFactorRegistration', 'login', 'session', 'portal.html'])
      answers.push(await portal.send({ url: `/portal/${path}?codeSentViaEmail=true`, cookies }));
    for (const { headers, body } of answers) expect(JSON.stringify(headers) + body).not.toContain(code);
  });
});
