import fc from 'fast-check';
import { beforeEach, describe, expect, it, test } from 'vitest';

import { type Language, languages } from '#contract/languages.ts';
import { brandForTest } from '#test/support/brand-for-test.ts';
import { contrastOf } from '#test/support/contrast.ts';
import { testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { eachRow } from '#test/support/runs-all.ts';
import { startTwoFactorAfresh } from '#test/support/two-factor-for-test.ts';
import { type Mail, mailKinds } from '../people/mail-kinds.ts';
import { composeMail } from './compose-mail.ts';
import { type MailColours, mailLayoutColours } from './layout-colours.ts';

const steps = ['00', '33', '66', '99', 'cc', 'ff'];
const everySortOfColour = steps.flatMap((r) => steps.flatMap((g) => steps.map((b) => `#${r}${g}${b}`)));

const pairs: [ink: keyof MailColours, ground: keyof MailColours, least: number][] = [
  ['label', 'fill', 7],
  ['text', 'door', 7],
  ['muted', 'door', 7],
  ['text', 'order', 7],
  ['muted', 'order', 7],
  ['muted', 'floor', 7],
  ['accent', 'door', 7],
  ['edge', 'door', 3],
];

describe.each(['day', 'night'] as const)('by %s', (theme) => {
  test('BR-01 every text is readable for any configured colour', () =>
    eachRow(pairs, ([ink, ground, least]) => {
      for (const accent of [null, '#ff0', '#fff', '#000', '#21489c', '#ffcc00', '#e30613', ...everySortOfColour]) {
        const colours = mailLayoutColours(accent)[theme];
        expect(contrastOf(colours[ink], colours[ground]), `${accent}`).toBeGreaterThanOrEqual(least);
      }
    }));
});

// Every email of a sign-in is in the user's own language, else in that of the page. The browser here is German.
const headers = { 'accept-language': 'de-AT,de;q=0.9' };

const portal = portalOfFile();
beforeEach(async () => {
  await startTwoFactorAfresh(portal);
  await portal.sql`update customer set new_device_mail = true`;
});

/** Kind and language of what was queued since the start of the test. */
async function queued(): Promise<string[]> {
  const rows = await portal.sql<{ kind: string; language: string }[]>`
    select payload->>'kind' as kind, payload->>'language' as language from job where payload->>'kind' <> 'signInCode'`;
  return rows.map(({ kind, language }) => `${kind} ${language}`);
}

const signIn = (query = '') =>
  portal.send({
    method: 'POST',
    url: `/portal/performlogin${query}`,
    form: { username: 'pat', password: testPassword },
    headers,
  });

it('after a password it is the language of the page, or the own one', async () => {
  await signIn();
  await signIn('?lang=pl');
  await portal.sql`update portal_user set language = 'it'`;
  await signIn();
  expect(await queued()).toEqual(['newDevice de', 'newDevice pl', 'newDevice it']);
});

const token = 'q7-_Zb'.repeat(7);
const code = '012945';
const tokenOf: Partial<Record<Mail['kind'], string>> = { resetLink: token, invitation: token, signInCode: code };

const config = {
  publicUrl: new URL('https://hub.example'),
  basePath: '/portal',
  brand: brandForTest(),
};

const named = (name: string) => ({ ...config, brand: brandForTest({ name }) });

const details = {
  username: 'ada.lovelace',
  at: '2026-03-03T23:30:00-05:00',
  address: '203.0.113.42',
  browser: 'Firefox on Windows',
};

const mailOf = (kind: Mail['kind'], more: Partial<Mail> = {}): Mail => ({
  id: '1',
  kind,
  recipient: 'ada@acme.example',
  language: 'en',
  queuedAt: new Date(details.at),
  details,
  token: tokenOf[kind] ?? null,
  ...more,
});

/** Where a link leads; that of a notice leads to a new password. */
const pathOfKind: Partial<Record<Mail['kind'], string | null>> = {
  resetLink: `/portal/forgottenChange?hash=${token}&lang=`,
  invitation: `/portal/forgottenChange?hash=${token}&invited=true&lang=`,
  singleSignOnHint: '/portal/singleSignOn?lang=',
  noReset: '/portal/login?lang=',
  emailChanged: '/portal/account?lang=',
  secondFactorResetSoon: '/portal/account?lang=',
  signInCode: null,
};

const linksOf = (kind: Mail['kind'], language: Language) => {
  const { [kind]: path = '/portal/forgotten?lang=' } = pathOfKind;
  return path === null ? [] : [`https://hub.example${path}${language}`];
};

/** The machine-readable end of the text of an email with a code; readers have the code above. */
const codeLine = `@hub.example #${code}`;

const decoded = (html: string) => html.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)));
const addressesIn = (part: string) => decoded(part).match(/https?:\/\/[^\s"<]*/gi) ?? [];

/** What a reader sees and copies of the HTML part: without the head, the hidden preview, comments and tags. */
const seenIn = (html: string) => {
  const body = html.slice(html.indexOf('</div>')).replace(/<\/?span[^>]*>/g, '');
  return decoded(body.replace(/<!--.*?-->|<[^>]*>|&nbsp;/g, ' '));
};

const wordsOf = (text: string) =>
  text
    .replaceAll('\u00ad', '')
    .replaceAll('\u2011', '-')
    .split(/[\s:]+/)
    .filter(Boolean);

/** Every mail in every language, with the name by which a failure is found. */
const mails = mailKinds.flatMap((kind) =>
  languages.map((language) => ({
    ...composeMail(mailOf(kind, { language }), config),
    name: `${kind} in ${language}`,
    language,
    links: linksOf(kind, language),
  })),
);

test('each part has exactly one link, to the configured address in its language, or none', () => {
  for (const { name, text, html, links } of mails) {
    expect(addressesIn(text), name).toEqual(links);
    expect(addressesIn(html), name).toEqual(links);
    expect(text.split('\n'), name).toEqual(expect.arrayContaining(links));
    expect(decoded(html).match(/href="[^"]*"/g) ?? [], name).toEqual(links.map((link) => `href="${link}"`));
  }
});

test('the text matches the HTML word for word', () => {
  for (const { name, text, html, links } of mails) {
    const forReaders = links.reduce((left, link) => left.replace(link, 'hub.example'), text.replace(codeLine, ''));
    expect(wordsOf(forReaders), name).toEqual(wordsOf(seenIn(html)));
  }
});

test('EM-09 the subject names the hub and holds no secret', () => {
  for (const { name, subject } of mails) {
    expect(subject, name).toContain('Acme Hub');
    expect(subject, name).not.toContain(token);
    expect(subject, name).not.toMatch(/\d/);
    expect(subject.length, name).toBeLessThan(78);
  }
});

test('the HTML loads nothing, is small, and declares its language and title', () => {
  for (const { name, subject, html, language } of mails) {
    expect(html, name).not.toMatch(/\ssrc=|url\(|@import|@font-face|<(?:link|img|script|iframe|form|object|svg)\b/i);
    expect(Buffer.byteLength(html), name).toBeLessThan(12 * 1024);
    expect(html, name).toContain(`<html lang="${language}" dir="ltr">`);
    expect(decoded(html), name).toContain(`<title>${subject}</title>`);
    expect(html.replaceAll('<table role="presentation"', ''), name).not.toContain('<table');
  }
});

test('EM-09 EM-10 an email with a code has it once to read, once to copy, in no preview, beside no link', () => {
  for (const language of languages) {
    const { subject, text, html } = composeMail(mailOf('signInCode', { language }), config);
    const hidden = /<div style="display:none[^>]*>(.*)<\/div>/.exec(html)?.[1];
    expect(text, language).not.toMatch(/https?:|www\.|mailto:/i);
    expect(decoded(html), language).not.toMatch(/https?:|www\.|mailto:|href|<a\b|<form\b/i);
    const times = (words: string[]) => words.filter((word) => word === code).length;
    expect([times(text.split('\n')), times(wordsOf(seenIn(html)))], language).toEqual([1, 1]);
    expect(text.split('\n').at(-1), language).toBe(codeLine);
    for (const shown of [subject, hidden]) expect(shown, language).not.toMatch(/012|945/);
    expect(text, language).toMatch(/\D10\u00a0minu/i);
  }
});

/** Each of the mails once with the given names, as one hostile person may choose them. */
const everyKind = (more: object, hub: string) =>
  mailKinds.map((kind) => ({ kind, ...composeMail(mailOf(kind, { details: { ...details, ...more } }), named(hub)) }));

test('PR-22 markup and an address in a name are shown as they are, and no second link', () => {
  const name = `<img src=x onerror="alert('1')">&amp;`;
  for (const { kind, html, text } of everyKind({ username: name, browser: name }, name)) {
    expect(html, kind).not.toContain('<img');
    expect(html, kind).not.toContain('&amp;');
    expect(seenIn(html).split(name).length, kind).toBeGreaterThan(4);
    expect(text, kind).toContain(`: ${name}\n`);
  }
  const link = 'HTTPS://evil.example/';
  for (const { kind, html, text } of everyKind({ username: link, browser: link, address: link }, link))
    expect([addressesIn(text), addressesIn(html)], kind).toEqual([linksOf(kind, 'en'), linksOf(kind, 'en')]);
});

test('PR-11 line breaks in a name reach neither the subject nor start a new line', () => {
  const name = 'Hub\r\nBcc: evil@x\u2028\u0085\u0000X';
  for (const { kind, subject, text } of everyKind({ username: name }, name)) {
    expect(subject, kind).toContain('Hub Bcc: evil@x X');
    expect(subject, kind).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u);
    expect(text, kind).not.toMatch(/^Bcc/m);
    expect(text.replaceAll('\n', ''), kind).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u);
  }
});

test('whatever the names, the email keeps its tags, links and subject line', () => {
  const tagsIn = (html: string) => html.match(/<[/a-z!][^>]*>/gi)?.length;
  const kinds = mailKinds.map((kind) => ({ kind, plain: tagsIn(composeMail(mailOf(kind), config).html) }));
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('</td>', '<!--', '-->', '"\'>', 'http://x', '{hub}'),
  );
  fc.assert(
    fc.property(fc.constantFrom(...kinds), text, text, text, ({ kind, plain }, hub, username, browser) => {
      const mail = mailOf(kind, { details: { ...details, username: `u${username}`, browser: `b${browser}` } });
      const { subject, html, text } = composeMail(mail, named(hub));
      expect(tagsIn(html)).toBe(plain);
      expect(addressesIn(html)).toHaveLength(linksOf(kind, 'en').length);
      expect(addressesIn(text)).toHaveLength(linksOf(kind, 'en').length);
      expect(subject).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u);
    }),
  );
});
