import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { logoForTest } from '#test/support/brand-for-test.ts';
import { eachRow } from '#test/support/runs-all.ts';
import { clientAddress } from '../http/client-address.ts';
import { type Config, readConfig } from './config.ts';
import { readSmtpUrl, type SmtpServer } from './server-urls.ts';

const folder = mkdtempSync(join(tmpdir(), 'vestibule-config-'));
afterAll(() => rmSync(folder, { recursive: true }));

const secret = 'x'.repeat(32);

function read(env: NodeJS.ProcessEnv, file?: unknown) {
  const path = join(folder, 'config.json');
  if (file !== undefined)
    writeFileSync(path, typeof file === 'string' || Buffer.isBuffer(file) ? file : JSON.stringify(file));
  return readConfig({ ...(file !== undefined && { VESTIBULE_CONFIG: path }), ...env });
}

function configOf(env: NodeJS.ProcessEnv, file?: unknown): Config {
  const result = read(env, file);
  if (result.kind === 'refused') throw new Error(result.problems.join('\n'));
  return result.config;
}

function problemsOf(env: NodeJS.ProcessEnv, file?: unknown): string[] {
  const result = read(env, file);
  return result.kind === 'ok' ? [] : result.problems.map((problem) => problem.replace(/^\S+config\.json: /, ''));
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
  });

  it('what is wrong is named', () =>
    eachRow<[string, NodeJS.ProcessEnv]>(
      [
        ['PORT', { PORT: '70000' }],
        ['HOST', { HOST: '*' }],
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
    expect(problemsOf({}, '{"name": "Hub",}')).toEqual([expect.stringContaining('not valid JSON')]);
    expect(problemsOf({}, Buffer.from('{"name": "M\u00fcller"}', 'latin1'))).toEqual([
      expect.stringContaining('as UTF-8'),
    ]);
  });

  it('is read as editors and compose files write it', () => {
    for (const text of ['\ufeff{"name": "Hub"}', Buffer.from('\ufeff{"name": "Hub"}', 'utf16le')])
      expect(configOf({}, text).brand.branding.name).toBe('Hub');
    expect(configOf({ PUBLIC_URL: '', PORT: '8080 ', HOST: '[::1]', VESTIBULE_CONFIG: '' })).toEqual({
      ...configOf({}),
      host: '::1',
    });
    expect(configOf({ PUBLIC_URL: ' https://hub.example.com ' }).publicUrl.href).toBe('https://hub.example.com/');
  });
});

it('secrets may be in files; those that cannot be read, are empty or are set twice are refused without their contents', () => {
  const fileWith = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const files = {
    DATABASE_URL_FILE: fileWith('database-url', 'postgres://vestibule:pw@db:5432/vestibule\n'),
    VESTIBULE_SECRET_FILE: fileWith('secret', `${secret}\n`),
  };
  expect(configOf(files)).toMatchObject({
    ...{ databaseUrl: 'postgres://vestibule:pw@db:5432/vestibule', secrets: [secret] },
  });
  const [none, empty] = [join(folder, 'none'), fileWith('empty', ' \n')];
  expect(problemsOf({ VESTIBULE_SECRET_FILE: none })).toEqual([
    `VESTIBULE_SECRET_FILE: ${none} cannot be read (ENOENT)`,
  ]);
  expect(problemsOf({ METRICS_TOKEN_FILE: empty })).toEqual([`METRICS_TOKEN_FILE: ${empty} is empty`]);
  expect(problemsOf({ ...files, VESTIBULE_SECRET: secret })).toEqual([
    'VESTIBULE_SECRET_FILE: VESTIBULE_SECRET is set as well; remove one of them',
  ]);
});

it('the domain of passkeys is the host of PUBLIC_URL or a parent of it; a number has none', () => {
  const [PUBLIC_URL, number] = ['https://hub.acme.example:8443', 'https://192.0.2.7'];
  const passkeysOf = (domain?: string, env = { PUBLIC_URL }) =>
    configOf(env, domain ? { passkeys: { domain } } : {}).passkeys;
  expect(passkeysOf()).toEqual({ id: 'hub.acme.example', origin: PUBLIC_URL });
  expect(passkeysOf('acme.example')).toEqual({ id: 'acme.example', origin: PUBLIC_URL });
  expect(passkeysOf('localhost', { PUBLIC_URL: 'http://localhost:8080' })?.id).toBe('localhost');
  for (const domain of ['evil.example', 'www.hub.acme.example', 'cme.example', '192.0.2.7', 'example'])
    expect(problemsOf({ PUBLIC_URL }, { passkeys: { domain } })).toEqual([
      `passkeys.domain: ${JSON.stringify(domain)} is neither the host of PUBLIC_URL nor a parent of it`,
    ]);
  expect(passkeysOf(undefined, { PUBLIC_URL: number })).toBeNull();
  expect(problemsOf({ PUBLIC_URL: number }, { passkeys: { domain: 'acme.example' } })).toEqual([
    'passkeys: no passkey can be made for the host of PUBLIC_URL, which is a number',
  ]);
});

const noLogin = { user: null, password: null };

it.each<[string, SmtpServer]>([
  ['smtps://smtp.example.com', { host: 'smtp.example.com', port: 465, tls: 'implicit', ...noLogin }],
  ['smtp://smtp.example.com', { host: 'smtp.example.com', port: 587, tls: 'starttls', ...noLogin }],
  ['smtp://localhost:1025/?starttls=off', { host: 'localhost', port: 1025, tls: 'off', ...noLogin }],
  ['smtp://u:p@[::1]:25', { host: '::1', port: 25, tls: 'starttls', user: 'u', password: 'p' }],
  [
    'smtps://no-reply%40hub.example:%3A%2F%3F%23%40%25%C3%A4@10.0.0.5:2465',
    { host: '10.0.0.5', port: 2465, tls: 'implicit', user: 'no-reply@hub.example', password: ':/?#@%ä' },
  ],
])('SMTP_URL %s is read', (text, server) => {
  expect(readSmtpUrl(text)).toEqual({ kind: 'ok', value: server });
});

it('an SMTP_URL that is wrong is refused by name, without the password', () =>
  eachRow(
    [
      'geheim',
      'smtp.example.com:587',
      'https://u:geheim@smtp.example.com',
      'smtp://u:geheim@',
      'smtp://u:geheim@b\u00fccher.example',
      'smtp://u:geheim@host/inbox',
      'smtp://u:geheim@host?starttls=off&tls.rejectUnauthorized=false',
      'smtps://u:geheim@host?starttls=off',
      'smtp://u@host',
      'smtp://:geheim@host',
      'smtp://u:geheim%@host',
      'smtp://u%0D%0ARSET:geheim@host',
    ],
    (text) => {
      const reading = readSmtpUrl(text);
      expect(reading).toEqual({ kind: 'refused', problem: expect.stringMatching(/^SMTP_URL: ./) });
      expect(JSON.stringify(reading)).not.toMatch(/geh|eim/);
    },
  ));
