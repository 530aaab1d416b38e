import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Language, languages } from '#contract/languages.ts';
import de from '#messages/de.json' with { type: 'json' };
import en from '#messages/en.json' with { type: 'json' };
import es from '#messages/es.json' with { type: 'json' };
import it from '#messages/it.json' with { type: 'json' };
import nl from '#messages/nl.json' with { type: 'json' };
import pl from '#messages/pl.json' with { type: 'json' };
import { brandForTest } from '#testing/brand-for-test.ts';
import { type Mail, mailKinds } from '../storage/mail-kinds.ts';
import { composeMail } from './compose-mail.ts';

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

const pathOf: Record<Mail['kind'], string | null> = {
  resetLink: `/portal/forgottenChange?hash=${token}&lang=`,
  invitation: `/portal/forgottenChange?hash=${token}&invited=true&lang=`,
  singleSignOnHint: '/portal/singleSignOn?lang=',
  passkeyHint: '/portal/login?lang=',
  passwordChanged: '/portal/forgotten?lang=',
  newDevice: '/portal/forgotten?lang=',
  signInCode: null,
  secondFactorAdded: '/portal/forgotten?lang=',
  secondFactorRemoved: '/portal/forgotten?lang=',
  passkeyAdded: '/portal/forgotten?lang=',
  passkeyRemoved: '/portal/forgotten?lang=',
  appReplaced: '/portal/forgotten?lang=',
  appRemoved: '/portal/forgotten?lang=',
  recoveryCodesMade: '/portal/forgotten?lang=',
  devicesForgotten: '/portal/forgotten?lang=',
  sessionsEnded: '/portal/forgotten?lang=',
};

const linksOf = (kind: Mail['kind'], language: Language) =>
  pathOf[kind] === null ? [] : [`https://hub.example${pathOf[kind]}${language}`];

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

const cases = mailKinds.flatMap((kind) => languages.map((language) => ({ kind, language })));

describe.each(cases)('$kind in $language', ({ kind, language }) => {
  const { subject, text, html } = composeMail(mailOf(kind, { language }), config);
  const links = linksOf(kind, language);

  test('each part has exactly one link, to the configured address in its language, or none', () => {
    expect(addressesIn(text)).toEqual(links);
    expect(addressesIn(html)).toEqual(links);
    expect(text.split('\n')).toEqual(expect.arrayContaining(links));
    expect(decoded(html).match(/href="[^"]*"/g) ?? []).toEqual(links.map((link) => `href="${link}"`));
  });

  test('the text matches the HTML word for word', () => {
    const forReaders = links.reduce((left, link) => left.replace(link, 'hub.example'), text.replace(codeLine, ''));
    expect(wordsOf(forReaders)).toEqual(wordsOf(seenIn(html)));
  });

  test('it says where, for whom, when in UTC, from which address and with which browser', () => {
    for (const fact of ['Acme Hub', 'ada.lovelace', '203.0.113.42', 'Firefox on Windows']) expect(text).toContain(fact);
    expect(text).toMatch(/\b4\b.*2026.*\b04:30\u00a0UTC\n/);
  });

  test('EM-09 the subject names the hub and holds no secret', () => {
    expect(subject).toContain('Acme Hub');
    expect(subject).not.toContain(token);
    expect(subject).not.toMatch(/\d/);
    expect(subject.length).toBeLessThan(78);
  });

  test('no placeholder is left', () => expect(subject + text + seenIn(html)).not.toMatch(/[{}]|undefined|null\b/));

  test('the HTML loads nothing, is small, and declares its language and title', () => {
    expect(html).not.toMatch(/\ssrc=|url\(|@import|@font-face|<(?:link|img|script|iframe|form|object|svg)\b/i);
    expect(Buffer.byteLength(html)).toBeLessThan(12 * 1024);
    expect(html).toContain(`<html lang="${language}" dir="ltr">`);
    expect(decoded(html)).toContain(`<title>${subject}</title>`);
    expect(html.replaceAll('<table role="presentation"', '')).not.toContain('<table');
  });

  test('the button names the host it leads to', () => {
    const label = /<a[^>]*>(.*)<\/a>/.exec(html)?.[1];
    if (links.length > 0) expect(label).toMatch(/^\S.*<br><span[^>]*>hub\.example<\/span>$/);
    else expect(label).toBeUndefined();
  });

  test('the heading is short and keeps short words with a hyphen together', () => {
    const heading = decoded(/<h1[^>]*>(.*)<\/h1>/.exec(html)?.[1] ?? '');
    expect(wordsOf(heading).length).toBeGreaterThan(0);
    expect(wordsOf(heading).length).toBeLessThanOrEqual(5);
    expect(heading.split(' ').filter((word) => word.includes('-') && word.length < 15)).toEqual([]);
  });
});

const hourOf: Record<Language, string> = {
  en: '1 hour',
  de: '1 Stunde',
  es: '1 hora',
  pl: '1 godzina',
  nl: '1 uur',
  it: '1 ora',
};

test.each(languages)('a reset mail in %s says how long its link works', (language) =>
  expect(composeMail(mailOf('resetLink', { language }), config).text).toMatch(
    new RegExp(` ${hourOf[language].replace(' ', '\u00a0')}[.,]`),
  ),
);

test('how long a code works is in whole minutes, rounded down, or in seconds at the end', () => {
  const textFor = (validFor: number) =>
    composeMail(mailOf('signInCode', { details: { ...details, validFor } }), config);
  expect(textFor(119_999).text).toContain(' 1\u00a0minute of the request');
  expect(textFor(5_400_000).text).toContain(' 1\u00a0hour, 30\u00a0minutes of the request');
  expect(textFor(59_999).text).toContain(' 59\u00a0seconds of the request');
});

test('dates are British in English', () =>
  expect(composeMail(mailOf('newDevice'), config).text).toContain('4\u00a0March\u00a02026 at\u00a004:30\u00a0UTC'));

const forgottenOf: Record<Language, string> = {
  en: en['login-forgotten'],
  de: de['login-forgotten'],
  es: es['login-forgotten'],
  pl: pl['login-forgotten'],
  nl: nl['login-forgotten'],
  it: it['login-forgotten'],
};

describe.each(languages)('an email with a code in %s', (language) => {
  const { subject, text, html } = composeMail(mailOf('signInCode', { language }), config);
  const hidden = /<div style="display:none[^>]*>(.*)<\/div>/.exec(html)?.[1];

  test('EM-10 contains no link, visible or hidden', () => {
    expect(text).not.toMatch(/https?:|www\.|mailto:/i);
    expect(decoded(html)).not.toMatch(/https?:|www\.|mailto:|href|<a\b|<form\b/i);
  });

  test('the code has a line of its own, and is copied from the HTML as six digits', () => {
    expect(text.split('\n').filter((line) => line === code)).toHaveLength(1);
    expect(wordsOf(seenIn(html)).filter((word) => word === code)).toHaveLength(1);
  });

  test('the HTML shows the code in two groups', () =>
    expect(html).toMatch(/<span style="padding-right:\d+px">012<\/span><span>945<\/span>/));

  test('the last line binds the code to the site', () => expect(text.split('\n').at(-1)).toBe(codeLine));

  test('EM-09 neither the subject nor the preview shows the code', () => {
    for (const shown of [subject, hidden]) expect(shown).not.toMatch(/012|945/);
    expect(hidden?.length).toBeGreaterThan(100);
  });

  test('it says how long the code is valid, and where to choose a new password', () => {
    expect(text).toMatch(/\D10\u00a0minu/i);
    expect(text.replaceAll('\u00a0', ' ')).toContain(forgottenOf[language]);
  });
});

test('a code is bound to the host only, whatever the port and path', () => {
  const local = { ...config, publicUrl: new URL('http://localhost:8080') };
  expect(composeMail(mailOf('signInCode'), local).text).toMatch(/\n\n@localhost #012945$/);
});

test('unknown values have no row', () => {
  const { address: _address, browser: _browser, ...known } = details;
  const { text } = composeMail(mailOf('newDevice', { details: known }), config);
  expect(text).toContain('Time: ');
  expect(text).not.toMatch(/IP address|Browser:/);
});

test.each(['resetLink', 'signInCode'] as const)('%s without its token throws as a bug', (kind) =>
  expect(() => composeMail(mailOf(kind, { token: null }), config)).toThrow('token'),
);

describe.each(mailKinds)('hostile names in %s', (kind) => {
  test('PR-22 markup in a name is shown verbatim', () => {
    const name = `<img src=x onerror="alert('1')">&amp;`;
    const { html, text } = composeMail(
      mailOf(kind, { details: { ...details, username: name, browser: name } }),
      named(name),
    );
    expect(html).not.toContain('<img');
    expect(html).not.toContain('&amp;');
    expect(seenIn(html).split(name).length).toBeGreaterThan(4);
    expect(text).toContain(`: ${name}\n`);
  });

  test('PR-22 an address in a name does not become a second link', () => {
    const name = 'HTTPS://evil.example/';
    const mail = mailOf(kind, { details: { ...details, username: name, browser: name, address: name } });
    const { html, text } = composeMail(mail, named(name));
    expect(addressesIn(text)).toEqual(linksOf(kind, 'en'));
    expect(addressesIn(html)).toEqual(addressesIn(text));
    expect(text).toContain('evil.example');
  });

  test('PR-11 line breaks in a name reach neither the subject nor start a new line', () => {
    const name = 'Hub\r\nBcc: evil@x\u2028\u0085\u0000X';
    const { subject, text } = composeMail(mailOf(kind, { details: { ...details, username: name } }), named(name));
    expect(subject).toContain('Hub Bcc: evil@x X');
    expect(subject).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u);
    expect(text).not.toMatch(/^Bcc/m);
    expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u);
  });

  test('a name cannot change the reading order of the text around it', () => {
    const { subject, text, html } = composeMail(mailOf(kind), named('Hub\u202egpj.exe\u2066'));
    expect(subject + text + html).not.toMatch(/\p{Bidi_Control}/u);
    expect(subject).toContain('Hubgpj.exe');
  });

  test('whatever the names, the email keeps its tags, links and subject line', () => {
    const tagsIn = (html: string) => html.match(/<[/a-z!][^>]*>/gi)?.length;
    const plain = tagsIn(composeMail(mailOf(kind), config).html);
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('</td>', '<!--', '-->', '"\'>', 'http://x', '{hub}'),
    );
    fc.assert(
      fc.property(text, text, text, (hub, username, browser) => {
        const mail = mailOf(kind, { details: { ...details, username: `u${username}`, browser: `b${browser}` } });
        const { subject, html, text } = composeMail(mail, named(hub));
        expect(tagsIn(html)).toBe(plain);
        expect(addressesIn(html)).toHaveLength(linksOf(kind, 'en').length);
        expect(addressesIn(text)).toHaveLength(linksOf(kind, 'en').length);
        expect(subject).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u);
      }),
    );
  });
});
