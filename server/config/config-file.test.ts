import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { languages } from '#contract/languages.ts';
import { logoForTest } from '#test/support/brand-for-test.ts';
import { eachRow } from '#test/support/runs-all.ts';
import schema from '../../vestibule.config.schema.json' with { type: 'json' };
import { logoBytes, readBrand } from './brand.ts';
import { readConfig } from './config.ts';

function problemsOfBrand(settings: Parameters<typeof readBrand>[0]): string[] {
  const problems: string[] = [];
  readBrand(settings, problems);
  return problems;
}

it.each([
  ['an unknown key', { en: { 'login-titel': 'Hello' } }, 'texts.en.login-titel: is not the key of a text'],
  ['a name of every object', { en: { constructor: 'Hello' } }, 'texts.en.constructor: is not the key'],
  ['an unknown placeholder', { de: { 'login-title': 'Hallo {user}' } }, 'de.login-title: has an unknown placeholder'],
  ['a missing placeholder', { en: { 'mail-footer': 'Nobody.' } }, 'texts.en.mail-footer: needs the placeholder {hub}'],
  ['a line break', { en: { 'mail-resetLink-subject': 'Hi {hub}\r\nBcc: a@b.example' } }, 'must be one line'],
  ['another direction', { en: { 'login-title': 'Hello \u202eyou' } }, 'must be one line'],
  ['nothing', { en: { 'login-title': ' ' } }, 'must not be empty'],
])('BR-04 a text with %s is refused by name', (_name, texts, words) => {
  expect(problemsOfBrand({ texts })).toEqual([expect.stringContaining(words)]);
});

it('BR-03 a logo that cannot be used is refused by its field', () => {
  const missing = '/nowhere/logo.svg';
  expect(problemsOfBrand({ logo: missing })).toEqual([`logo: ${missing} cannot be read (ENOENT)`]);
  const large = logoForTest('logo.png', Buffer.alloc(logoBytes + 1));
  expect(problemsOfBrand({ logo: large })).toEqual([`logo: ${large} is larger than 64 KB`]);
  expect(problemsOfBrand({ logoDark: logoForTest('logo.svg') })).toEqual(['logoDark: needs logo']);
});

const folder = mkdtempSync(join(tmpdir(), 'vestibule-config-'));
afterAll(() => rmSync(folder, { recursive: true }));

function problemsOf(file: unknown): string[] {
  const path = join(folder, 'config.json');
  writeFileSync(path, JSON.stringify(file));
  const result = readConfig({ VESTIBULE_CONFIG: path });
  return result.kind === 'ok' ? [] : result.problems.map((problem) => problem.replace(`${path}: `, ''));
}

describe('the configuration file', () => {
  it('IN-13 what is wrong in the file is named', () =>
    eachRow<[string, unknown]>(
      [
        ['name', { name: '' }],
        ['logo', { logo: 'logo.exe' }],
        ['accentColour', { accentColour: 'red;}body{display:none' }],
        ['links.support', { links: { support: 'javascript:alert(1)' } }],
        ['links.imprint', { links: { imprint: 'data:text/html,x' } }],
        ['links.imprint', { links: { imprint: 'http://b.example/' } }],
        ['links.other', { links: { other: 'https://b.example' } }],
        ['basePath', { basePath: '/' }],
        ['basePath', { basePath: '/../x' }],
        ['allowedHosts.0', { allowedHosts: ['a b'] }],
        ['allowedRedirectOrigins.0', { allowedRedirectOrigins: ['https://*.example'] }],
        ['allowedRedirectOrigins', { allowedRedirectOrigins: ['https://b.example:99999'] }],
        ['trustedProxies', { trustedProxies: ['10.0.0.0/33'] }],
        ['trustedProxies', { trustedProxies: ['010.0.0.1'] }],
        ['hub.identityHeaders.user', { hub: { identityHeaders: { user: 'User' } } }],
        ['hub.identityHeaders.email', { hub: { identityHeaders: { email: 'X-Email\r\nSet-Cookie: a' } } }],
        ['hub.identityHeaders.email', { hub: { identityHeaders: { email: 'X-Vestibule-User' } } }],
        ['hub.identityHeaders.language', { hub: { identityHeaders: { language: 'X-Frame-Options' } } }],
        ['hub.url', { hub: { url: 'ftp://hub' } }],
        ['hub.url', { hub: { url: 'http://hub/base' } }],
        ['hub.paths.0', { hub: { url: 'http://hub', paths: ['/app/../x'] } }],
        ['hub.paths.0', { hub: { url: 'http://hub', paths: ['/%61pp'] } }],
        ['hub.paths', { hub: { url: 'http://hub', paths: ['/portal'] } }],
        ['hub.paths', { hub: { url: 'http://hub', paths: ['/portal/authenticate'] } }],
        ['hub.paths', { hub: { url: 'http://hub', paths: ['/Healthz'] } }],
        ['hub.paths', { hub: { paths: ['/app'] } }],
        ['hub.publicPaths', { hub: { url: 'http://hub', paths: ['/app'], publicPaths: ['/'] } }],
        ['hub.publicPaths', { hub: { url: 'http://hub', paths: ['/app'], publicPaths: ['/apple'] } }],
        ['hub.audience', { hub: { url: 'http://hub', audience: 'nobody', audiences: [{ name: 'hub' }] } }],
        ['hub.answerSeconds', { hub: { url: 'http://hub', answerSeconds: 0 } }],
        ['passwordPolicy.minimumLength', { passwordPolicy: { minimumLength: 6 } }],
        ['session.idleMinutes', { session: { idleMinutes: 0 } }],
        ['session.idleMinutes', { session: { idleMinutes: 120, absoluteHours: 1 } }],
        ['mail.from', { mail: { from: 'a@b.example, c@d.example' } }],
        ['mail.from', { mail: { from: 'Hub <a@b.example>' } }],
        ['mail.from', { mail: { from: 'a@b.example\r\nBcc: c@d.example' } }],
        ['mail.smtp', { mail: { smtp: 'smtp://u:p@host' } }],
        ['nonsense', { nonsense: 1 }],
        ['the file', []],
      ],
      ([field, file]) => {
        expect(problemsOf(file)).toEqual([expect.stringMatching(`^${field}: .`)]);
      },
    ));

  it('what is wrong is named with the file and what is allowed', () =>
    eachRow<[string, unknown]>(
      [
        ['trustedProxys: is not a known setting – did you mean trustedProxies?', { trustedProxys: [] }],
        [
          'hub.identityHeaders.usr: is not a known setting – did you mean user?',
          { hub: { identityHeaders: { usr: 'X-U' } } },
        ],
        ['session.idle: is not a known setting – known are idleMinutes, absoluteHours', { session: { idle: 3 } }],
        [
          'texts.en.login-titel: is not the key of a text – did you mean login-title?',
          { texts: { en: { 'login-titel': 'x' } } },
        ],
        ['accentColour: must be like "#21489c"', { accentColour: 'red' }],
        ['session.absoluteHours: must be a whole number from 1 to 168', { session: { absoluteHours: '12' } }],
        ['singleSignOn.freshAfterSignOut: must be boolean', { singleSignOn: { freshAfterSignOut: 'yes' } }],
      ],
      ([problem, file]) => {
        const path = join(folder, 'config.json');
        writeFileSync(path, JSON.stringify(file));
        expect(readConfig({ VESTIBULE_CONFIG: path, PORT: 'x' })).toEqual({
          ...{ kind: 'refused', problems: [`${path}: ${problem}`, 'PORT: "x" is not a port number'].sort() },
        });
      },
    ));

  it('takes texts in every language', () => {
    expect(Object.keys(schema.properties.texts.properties)).toEqual(languages);
  });
});
