import { expect, it } from 'vitest';
import { logoForTest } from '#test/support/brand-for-test.ts';
import { logoBytes, readBrand } from './brand.ts';

function problemsOf(settings: Parameters<typeof readBrand>[0]): string[] {
  const problems: string[] = [];
  readBrand(settings, problems);
  return problems;
}

it.each([
  ['an unknown key', { en: { 'login-titel': 'Hello' } }, 'texts.en.login-titel: is not the key of a text'],
  ['a name of every object', { en: { constructor: 'Hello' } }, 'texts.en.constructor: is not the key'],
  [
    'an unknown placeholder',
    { de: { 'login-title': 'Hallo {user}' } },
    'texts.de.login-title: has an unknown placeholder',
  ],
  ['a missing placeholder', { en: { 'mail-footer': 'Nobody.' } }, 'texts.en.mail-footer: needs the placeholder {hub}'],
  ['a line break', { en: { 'mail-resetLink-subject': 'Hi {hub}\r\nBcc: a@b.example' } }, 'must be one line'],
  ['another direction', { en: { 'login-title': 'Hello \u202eyou' } }, 'must be one line'],
  ['nothing', { en: { 'login-title': ' ' } }, 'must not be empty'],
])('BR-04 a text with %s is refused by name', (_name, texts, words) => {
  expect(problemsOf({ texts })).toEqual([expect.stringContaining(words)]);
});

it('BR-03 a logo that cannot be used is refused by its field', () => {
  const missing = '/nowhere/logo.svg';
  expect(problemsOf({ logo: missing })).toEqual([`logo: ${missing} cannot be read (ENOENT)`]);
  const large = logoForTest('logo.png', Buffer.alloc(logoBytes + 1));
  expect(problemsOf({ logo: large })).toEqual([`logo: ${large} is larger than 64 KB`]);
  expect(problemsOf({ logoDark: logoForTest('logo.svg') })).toEqual(['logoDark: needs logo']);
});
