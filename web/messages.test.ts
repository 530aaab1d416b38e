import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { languages } from '#contract/languages.ts';
import { notices } from '#contract/notices.ts';
import { problemStatuses } from '#contract/page.ts';
import { changeFailedReasons, loginFailTypes } from '#contract/reasons.ts';
import { typeset } from '#contract/typeset.ts';
import { eachRow } from '#test/support/runs-all.ts';
import { allTexts } from './all-texts.ts';
import { clockTime, filled, relativeTime } from './messages.ts';

const textsOf: Record<string, Record<string, string>> = allTexts;
const { en } = allTexts;
const keys = Object.keys(en);

/** Words that really are the same in two languages, not missing translations. */
const sharedWords = new Set([
  ...'Support|Single sign-on|Password|Adres|Un momento…|Account|Konto|media|Browser|Passkey|Passkeys'.split('|'),
  ...'Servicedesk|Name|Person|Persona|Personen|Cliente|Operator|Rol|Status|Tipo|Alle|Alles|Ja|No|App|E-mail'.split('|'),
]);

const alertTitles = ['email-info-wait-title', 'change-no-link-title', 'registration-unavailable-title'];

describe.each(languages)('%s', (language) => {
  const texts = textsOf[language] as Record<string, string>;

  it('has exactly the keys of English, in the same order', () => expect(Object.keys(texts)).toEqual(keys));

  it('has a text for each, with plain spaces and hyphens and without straight quotes', () => {
    for (const [key, text] of Object.entries(texts)) {
      expect(text, key).toMatch(/^\S(?:.*\S)?$/);
      expect(text, key).not.toMatch(/["']|\.\.\.|!|[\u00a0\u2011\u202f\u2060]| {2}/);
    }
  });

  it('has no full stop after the title of a notice: the page puts one that only screen readers hear', () => {
    const titles = keys.filter((key) => /^notice-.*-title$/.test(key) || alertTitles.includes(key));
    expect(titles.length).toBeGreaterThan(alertTitles.length);
    for (const key of titles) expect(texts[key], key).toMatch(/\p{L}$/u);
  });

  it('addresses in examples belong to nobody', () => {
    for (const [key, text] of Object.entries(texts))
      for (const [domain] of text.matchAll(/(?<=@)[\w-]+(?:\.[\w-]+)+/g)) expect(domain, key).toMatch(/\.example$/);
    expect(texts['email-invalid']).toContain('.example');
  });

  it('has the same placeholders', () => {
    const placeholders = (text: string) => (text.match(/\{\w*\}/g) ?? []).sort();
    for (const key of keys) {
      expect(placeholders(texts[key] ?? ''), key).toEqual(placeholders((en as Record<string, string>)[key] ?? ''));
    }
  });

  it('is not left untranslated', () => {
    for (const other of languages.filter((one) => one !== language)) {
      const same = keys.filter((key) => texts[key] === textsOf[other]?.[key] && !sharedWords.has(texts[key] ?? ''));
      expect(same, other).toEqual([]);
    }
  });
});

it('headings are short', () => {
  const titles = Object.entries(en).filter(([key]) => /^(?!notice-).*-title$/.test(key) && !alertTitles.includes(key));
  expect(titles.filter(([, text]) => text.split(' ').length > 5)).toEqual([]);
});

it('every reason, login-fail type, problem status and notice has its texts', () => {
  const wanted = [
    ...Object.values(changeFailedReasons).map((reason) => `changed-failed-page-error-${reason}`),
    ...loginFailTypes.flatMap((type) => [`login-fail-${type}-title`, `login-fail-${type}-text`]),
    ...problemStatuses.flatMap((status) => [`problem-${status}-title`, `problem-${status}-text`]),
    ...notices
      .filter((notice) => !['codeWrong', 'codeMalformed', 'emailMalformed', 'chooseConnection'].includes(notice))
      .flatMap((notice) => [`notice-${notice}-title`, `notice-${notice}-text`]),
    'changed-failed-page-error',
    'password-page-error-1',
    'password-page-error-2',
    'twofa-error-try-again-with-code',
    'twofa-malformed',
    'twofa-something-went-wrong',
    'twofa-qr-code-unavailable',
    'general-error-something-went-wrong',
    ...['short', 'long', 'between', 'common', 'weak', 'match'].map((rule) => `password-validation-${rule}`),
  ];
  expect(keys).toEqual(expect.arrayContaining(wanted));
});

it('browsers load the texts of the pages that have a script, and none of the emails', () => {
  const assets = new URL('../dist/pages/assets/', import.meta.url);
  const scripts = readdirSync(assets).filter((name) => name.endsWith('.js'));
  for (const language of languages) {
    const name = scripts.find((script) => script.startsWith(`${language}-`)) ?? '';
    const code = readFileSync(new URL(name, assets), 'utf8');
    const has = (key: string) =>
      code.replaceAll('\\xA0', '\u00a0').includes(typeset(language, textsOf[language]?.[key] ?? ''));
    expect(has('notice-cookiesNeeded-text'), language).toBe(true);
    expect(has('mail-footer'), language).toBe(false);
    expect(code, language).not.toMatch(/[^\w-](?:mail|account|invitation)-\w/);
  }
});

it('placeholders are filled, kept when unknown, and values are not expanded again', () =>
  expect(filled('{a} {b} {c}', { a: '{b}', b: 7 })).toBe('{b} 7 {c}'));

it('a time is told as people say it', () =>
  eachRow(
    [
      ['en', 0, 'in 1 second'],
      ['en', 90, 'in 90 seconds'],
      ['en', 121, 'in 3 minutes'],
      ['de', 300, 'in 5 Minuten'],
      ['es', 300, 'dentro de 5 minutos'],
      ['pl', 1, 'za 1 sekundę'],
      ['pl', 180, 'za 3 minuty'],
      ['pl', 300, 'za 5 minut'],
      ['nl', 300, 'over 5 minuten'],
      ['it', 300, 'tra 5 minuti'],
    ] as const,
    ([language, seconds, text]) => expect(relativeTime(language, seconds)).toBe(text.replace(/(\d) /, '$1\u00a0')),
  ));

it.each(languages)('%s: a wait is over in the minute that is told', (language) =>
  expect(clockTime(language, new Date('2026-03-03T14:31:01').getTime())).toBe('14:32'),
);
