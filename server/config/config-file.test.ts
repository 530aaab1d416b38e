import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { eachRow } from '#test/support/runs-all.ts';
import { readConfig } from './config.ts';
import { configSchemaFile, configSchemaText } from './config-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'vestibule-config-'));
afterAll(() => rmSync(folder, { recursive: true }));

function problemsOf(file: unknown): string[] {
  const path = join(folder, 'config.json');
  writeFileSync(path, JSON.stringify(file));
  const result = readConfig({ VESTIBULE_CONFIG: path });
  return result.kind === 'ok' ? [] : result.problems;
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
        ['links.solutions', { links: { solutions: '//evil.example' } }],
        ['links.other', { links: { other: 'https://b.example' } }],
        ['basePath', { basePath: 'portal' }],
        ['basePath', { basePath: '/' }],
        ['basePath', { basePath: '/../x' }],
        ['allowedHosts.0', { allowedHosts: ['a b'] }],
        ['allowedRedirectOrigins.0', { allowedRedirectOrigins: ['http://b.example'] }],
        ['allowedRedirectOrigins.0', { allowedRedirectOrigins: ['https://*.example'] }],
        ['allowedRedirectOrigins', { allowedRedirectOrigins: ['https://b.example:99999'] }],
        ['trustedProxies', { trustedProxies: ['10.0.0.0/33'] }],
        ['trustedProxies', { trustedProxies: ['010.0.0.1'] }],
        ['trustedProxies', { trustedProxies: ['proxy.local'] }],
        ['hub.identityHeaders.user', { hub: { identityHeaders: { user: 'User' } } }],
        ['hub.identityHeaders.email', { hub: { identityHeaders: { email: 'X-Email\r\nSet-Cookie: a' } } }],
        ['hub.identityHeaders.email', { hub: { identityHeaders: { email: 'x-vestibule-user' } } }],
        ['hub.identityHeaders.email', { hub: { identityHeaders: { email: 'X-Vestibule-User' } } }],
        ['hub.identityHeaders.language', { hub: { identityHeaders: { language: 'X-Frame-Options' } } }],
        ['hub.url', { hub: { url: 'ftp://hub' } }],
        ['hub.url', { hub: { url: 'http://hub/base' } }],
        ['hub.url', { hub: { url: 'http://user@hub' } }],
        ['hub.paths.0', { hub: { url: 'http://hub', paths: ['app'] } }],
        ['hub.paths.0', { hub: { url: 'http://hub', paths: ['/app/../x'] } }],
        ['hub.paths.0', { hub: { url: 'http://hub', paths: ['/%61pp'] } }],
        ['hub.paths', { hub: { url: 'http://hub', paths: ['/portal'] } }],
        ['hub.paths', { hub: { url: 'http://hub', paths: ['/portal/authenticate'] } }],
        ['hub.paths', { hub: { url: 'http://hub', paths: ['/Healthz'] } }],
        ['hub.paths', { hub: { url: 'http://hub', paths: ['/.well-known'] } }],
        ['hub.paths', { hub: { paths: ['/app'] } }],
        ['hub.publicPaths', { hub: { url: 'http://hub', paths: ['/app'], publicPaths: ['/'] } }],
        ['hub.publicPaths', { hub: { url: 'http://hub', paths: ['/app'], publicPaths: ['/apple'] } }],
        ['hub.audience', { hub: { url: 'http://hub', audience: 'nobody', audiences: [{ name: 'hub' }] } }],
        ['hub.answerSeconds', { hub: { url: 'http://hub', answerSeconds: 0 } }],
        ['passwordPolicy.minimumLength', { passwordPolicy: { minimumLength: 6 } }],
        ['session.idleMinutes', { session: { idleMinutes: 0 } }],
        ['session.idleMinutes', { session: { idleMinutes: 120, absoluteHours: 1 } }],
        ['mail.from', { mail: { from: 'nobody' } }],
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

  it('has an up-to-date JSON Schema file (node server/config/config-file.ts)', () => {
    expect(readFileSync(configSchemaFile, 'utf8')).toBe(configSchemaText());
  });
});
