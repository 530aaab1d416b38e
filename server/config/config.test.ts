import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { logoForTest } from '#test/support/brand-for-test.ts';
import { eachRow } from '#test/support/runs-all.ts';
import { clientAddress } from '../http/client-address.ts';
import { type Config, placeholderWarning, readConfig } from './config.ts';

const folder = mkdtempSync(join(tmpdir(), 'vestibule-config-'));
afterAll(() => rmSync(folder, { recursive: true }));

const secret = 'x'.repeat(32);

function read(env: NodeJS.ProcessEnv, file?: unknown) {
  const path = join(folder, 'config.json');
  if (file !== undefined) writeFileSync(path, typeof file === 'string' ? file : JSON.stringify(file));
  return readConfig({ ...(file !== undefined && { VESTIBULE_CONFIG: path }), ...env });
}

function configOf(env: NodeJS.ProcessEnv, file?: unknown): Config {
  const result = read(env, file);
  if (result.kind === 'refused') throw new Error(result.problems.join('\n'));
  return result.config;
}

function problemsOf(env: NodeJS.ProcessEnv, file?: unknown): string[] {
  const result = read(env, file);
  return result.kind === 'ok' ? [] : result.problems;
}

describe('the configuration', () => {
  it('needs nothing on a fresh machine', () => {
    expect(configOf({})).toMatchObject({
      host: '127.0.0.1',
      port: 8080,
      publicUrl: new URL('http://localhost:8080'),
      hosts: ['localhost:8080', '127.0.0.1:8080', '[::1]:8080'],
      origins: ['http://localhost:8080', 'http://127.0.0.1:8080', 'http://[::1]:8080'],
      databaseUrl: null,
      dataFolder: resolve('./data'),
      secrets: null,
      basePath: '/portal',
      brand: { accentColour: null, texts: {} },
      destinationRules: { origin: 'http://localhost:8080', basePath: '/portal', allowedOrigins: [] },
      passwordPolicy: { shortest: 7, longest: 72 },
      sessionIdle: 30 * 60_000,
      sessionAbsolute: 12 * 3_600_000,
      smtp: null,
      mailFrom: 'no-reply@localhost',
    });
  });

  it('warns of placeholder links, by name', () => {
    const links = { support: 'mailto:help@acme.example', imprint: 'https://acme.example/imprint' };
    expect(placeholderWarning(configOf({}))).toContain('links.support, links.imprint, links.solutions');
    expect(placeholderWarning(configOf({}, { links }))).toContain('placeholders: links.solutions –');
    const all = { ...links, solutions: 'https://acme.example/' };
    expect(placeholderWarning(configOf({}, { links: all }))).toBeNull();
  });

  it('accepts every setting of the environment', () => {
    const config = configOf({
      HOST: '::',
      PORT: '80',
      PUBLIC_URL: 'https://Hub.Example.com',
      DATABASE_URL: 'postgresql://u:p@db/x',
      VESTIBULE_DATA: '/var/lib/vestibule',
      VESTIBULE_SECRET: `${secret}, ${secret}y`,
      SMTP_URL: 'smtp://hub:p%40ss@smtp.example.com',
    });
    expect(config).toMatchObject({
      host: '::',
      port: 80,
      hosts: ['hub.example.com'],
      origins: ['https://hub.example.com'],
      databaseUrl: 'postgresql://u:p@db/x',
      dataFolder: '/var/lib/vestibule',
      secrets: [secret, `${secret}y`],
      smtp: { host: 'smtp.example.com', port: 587, tls: 'starttls', user: 'hub', password: 'p@ss' },
      mailFrom: 'no-reply@hub.example.com',
    });
    expect(configOf({ PORT: '80' }).hosts[0]).toBe('localhost');
    expect(configOf({ PUBLIC_URL: 'http://[::1]:8080' }).mailFrom).toBe('no-reply@localhost');
    expect(configOf({ PUBLIC_URL: 'https://hub.example.com:8443' }).hosts).toEqual(['hub.example.com:8443']);
  });

  it('accepts every setting of the file', () => {
    const config = configOf(
      {},
      {
        $schema: './vestibule.config.schema.json',
        name: 'Hub',
        logo: logoForTest('logo.svg'),
        texts: { de: { tagline: 'Alles an einem Ort' } },
        accentColour: '#abc',
        links: { support: 'mailto:a@b', imprint: 'https://b.example/', solutions: 'tel:+49123' },
        basePath: '/a/b',
        allowedHosts: ['10.0.0.5:8080', 'Proxy.Local'],
        allowedRedirectOrigins: ['https://App.example:443'],
        trustedProxies: ['10.0.0.0/8', '2001:db8::1'],
        hub: { identityHeaders: { user: 'Remote-User' } },
        mail: { from: 'Door@Hub.Example' },
        passwordPolicy: { minimumLength: 15 },
        session: { idleMinutes: 5, absoluteHours: 1 },
      },
    );
    expect(config).toMatchObject({
      basePath: '/a/b',
      brand: {
        branding: {
          name: 'Hub',
          logo: { src: expect.stringMatching(/^\/a\/b\/assets\/logo\/[\w-]{16}\.svg$/) },
          links: { support: 'mailto:a@b', solutions: 'tel:+49123' },
        },
        accentColour: '#abc',
        texts: { de: { tagline: 'Alles an einem Ort' } },
      },
      destinationRules: { basePath: '/a/b', allowedOrigins: ['https://app.example'] },
      passwordPolicy: { shortest: 15, longest: 72 },
      sessionIdle: 5 * 60_000,
      sessionAbsolute: 3_600_000,
      mailFrom: 'Door@hub.example',
      identityHeaders: { user: 'Remote-User', email: 'X-Vestibule-Email' },
    });
    expect(config.hosts).toEqual(expect.arrayContaining(['10.0.0.5:8080', 'proxy.local']));
    expect(clientAddress('10.1.2.3', '192.0.2.1', config.trustedProxies)).toBe('192.0.2.1');
    expect(clientAddress('11.1.2.3', '192.0.2.1', config.trustedProxies)).toBe('11.1.2.3');
  });

  it('what is wrong is named', () =>
    eachRow<[string, NodeJS.ProcessEnv]>(
      [
        ['PORT', { PORT: '70000' }],
        ['PUBLIC_URL', { PUBLIC_URL: 'hub.example.com' }],
        ['PUBLIC_URL', { PUBLIC_URL: 'https://hub.example.com/portal' }],
        ['PUBLIC_URL', { PUBLIC_URL: 'https://user@hub.example.com' }],
        ['DATABASE_URL', { DATABASE_URL: 'mysql://x', VESTIBULE_SECRET: secret }],
        ['DATABASE_URL', { DATABASE_URL: 'postgres:///x', VESTIBULE_SECRET: secret }],
        ['DATABASE_URL', { DATABASE_URL: 'postgres://u:p@one:5432,two:5432/x', VESTIBULE_SECRET: secret }],
        ['DATABASE_URL', { DATABASE_URL: 'postgres://u:p@one/x?sslmode=verify-ca', VESTIBULE_SECRET: secret }],
        ['DATABASE_URL', { DATABASE_URL: 'postgres://u:p@one/x?options=-c%20x', VESTIBULE_SECRET: secret }],
        ['DATABASE_URL', { DATABASE_URL: 'postgres://u:p@one/x?sslrootcert=/etc/ca.pem', VESTIBULE_SECRET: secret }],
        ['VESTIBULE_SECRET', { VESTIBULE_SECRET: 'short' }],
        ['VESTIBULE_HUB_SECRET', { VESTIBULE_HUB_SECRET: secret }],
        ['VESTIBULE_SECRET', { VESTIBULE_SECRET: `${secret},short` }],
        ['VESTIBULE_SECRET', { DATABASE_URL: 'postgres://u:p@db/x' }],
        ['VESTIBULE_CONFIG', { VESTIBULE_CONFIG: '/nowhere/at/all.json' }],
        ['SMTP_URL', { SMTP_URL: 'smtp://hub:short,@smtp.example.com?tls=off' }],
        ['mail.from', { PUBLIC_URL: 'https://a,b.example' }],
      ],
      ([name, env]) => {
        const problems = problemsOf(env);
        expect(problems).toEqual([expect.stringMatching(`^${name}: `)]);
        expect(problems.join()).not.toContain('short,');
      },
    ));

  it('CK-02 refuses a public address over plain http except on this machine', () => {
    for (const url of ['http://hub.example.com', 'http://10.0.0.5:8080', 'http://localhost.example.com'])
      expect(problemsOf({ PUBLIC_URL: url })).toEqual([expect.stringContaining('PUBLIC_URL: must be https')]);
    for (const url of ['http://localhost:3000', 'http://127.0.0.1', 'http://[::1]:8080'])
      expect(problemsOf({ PUBLIC_URL: url })).toEqual([]);
  });

  it('names every problem at once, and a file that is not JSON', () => {
    expect(problemsOf({ PORT: 'x', PUBLIC_URL: 'y' }, { name: '', other: 1 })).toHaveLength(4);
    const file = {
      other: 1,
      mail: { from: 'nobody', colour: 1 },
      trustedProxies: [7, 'x'],
      session: { idleMinutes: '1' },
    };
    expect(problemsOf({}, file).map((problem) => problem.split(':')[0])).toEqual(
      expect.arrayContaining(['other', 'mail.colour', 'mail.from', 'trustedProxies.0', 'trustedProxies']),
    );
    expect(problemsOf({}, '{"name": "Hub",}')).toEqual([expect.stringContaining('not valid JSON')]);
  });
});

describe('secrets in files', () => {
  const files = () => ({
    DATABASE_URL_FILE: fileWith('database-url', 'postgres://vestibule:pw@db:5432/vestibule\n'),
    VESTIBULE_SECRET_FILE: fileWith('secret', `${secret}\n`),
    SMTP_URL_FILE: fileWith('smtp-url', 'smtps://smtp.example.com\n'),
    METRICS_TOKEN_FILE: fileWith('metrics-token', `${'t'.repeat(24)}\n`),
  });

  function fileWith(name: string, text: string): string {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  }

  it('are the same as in the environment', () => {
    expect(configOf(files())).toMatchObject({
      databaseUrl: 'postgres://vestibule:pw@db:5432/vestibule',
      secrets: [secret],
      smtp: { host: 'smtp.example.com' },
      metricsToken: 't'.repeat(24),
    });
  });

  it('that cannot be read, are empty, or are set twice are refused, without their contents', () => {
    const path = join(folder, 'none');
    expect(problemsOf({ VESTIBULE_SECRET_FILE: path })).toEqual([
      `VESTIBULE_SECRET_FILE: ${path} cannot be read (ENOENT)`,
    ]);
    const empty = fileWith('empty', ' \n');
    expect(problemsOf({ METRICS_TOKEN_FILE: empty })).toEqual([`METRICS_TOKEN_FILE: ${empty} is empty`]);
    const both = problemsOf({ ...files(), VESTIBULE_SECRET: secret });
    expect(both).toEqual(['VESTIBULE_SECRET_FILE: VESTIBULE_SECRET is set as well; remove one of them']);
  });
});
