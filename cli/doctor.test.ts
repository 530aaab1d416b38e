import { once } from 'node:events';
import { mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { insertAuditEvent } from '#server/audit/audit-event.ts';
import type { Hub } from '#server/config/hub.ts';
import { commandsOfFile } from '#test/support/commands-of-file.ts';
import { freePort } from '#test/support/free-port.ts';
import { type MailServerForTest, mailServerForTest, testAuthorityFile } from '#test/support/mail-for-test.ts';
import { configFrom } from '#test/support/portal-for-test.ts';
import { runVestibuleProcess } from '#test/support/run-vestibule.ts';
import { checkHub, checkLine } from './doctor-checks.ts';

const auth = { user: 'hub@relay.example', password: 'Canary-8' };
const commands = commandsOfFile();
let folder: string;
let server: MailServerForTest;
const hubs: Server[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(commands.folder, 'doctor-'));
  server = await mailServerForTest({ auth });
});
afterEach(async () => {
  await server.close();
  for (const hub of hubs.splice(0)) {
    hub.closeAllConnections();
    hub.close();
  }
});

async function answering(listener: RequestListener): Promise<number> {
  const hub = createServer(listener);
  hubs.push(hub);
  await once(hub.listen(0, '127.0.0.1'), 'listening');
  return (hub.address() as AddressInfo).port;
}
const withStatus = (status: number) => answering((_request, response) => response.writeHead(status).end());

/** Runs `vestibule doctor`, with a data folder of its own; a process, since Node reads an authority's file at its start. */
async function doctor(args: string, more: Record<string, string> = {}) {
  const own = { VESTIBULE_DATA: join(folder, 'data'), NODE_EXTRA_CA_CERTS: testAuthorityFile };
  const env = { ...commands.env, ...own, ...more };
  const { code, out, err } = await runVestibuleProcess(['doctor', ...args.split(' ').filter(Boolean)], { env });
  expect(out + err).not.toContain('Canary');
  return { code, err, lines: out.trim().split('\n') };
}

describe('the hub', () => {
  const config = configFrom({ PUBLIC_URL: 'https://hub.example' });
  const hubAt = (url: string): Hub => ({
    ...{ url: new URL(url), paths: [], publicPaths: [], answerWithin: 1000, secret: 's'.repeat(32), audience: null },
  });

  it('is asked as the gate asks it, for its own page and on behalf of nobody', async () => {
    const asked: object[] = [];
    const port = await answering(({ url, headers }, response) => {
      asked.push({ url, ...headers });
      response.writeHead(500).end();
    });
    const hub = hubAt(`http://127.0.0.1:${port}`);
    expect(await checkHub({ ...config, hub }, hub)).toMatchObject({
      ...{ ok: true, warning: true, words: expect.stringContaining('answers 500 to a visitor who is not signed in') },
    });
    const told = { host: 'hub.example', 'x-forwarded-proto': 'https', 'x-vestibule-hub-secret': 's'.repeat(32) };
    expect(asked).toEqual([expect.objectContaining({ url: '/portal/portal.html', ...told })]);
    expect(asked[0]).not.toHaveProperty('cookie');
  });

  it.each([
    [async () => `http://127.0.0.1:${await freePort()}`, /\(ECONNREFUSED\) – start the hub, or correct hub\.url$/],
    [async () => 'http://hub.invalid', /has a name that cannot be resolved .* – .*correct hub\.url$/],
    [async () => `https://127.0.0.1:${await withStatus(200)}`, /failed the TLS handshake .* – hub\.url begins/],
  ])('that cannot be asked is named with what to do (%#)', async (start, words) => {
    expect(await checkHub(config, hubAt(await start()))).toEqual({ ok: false, words: expect.stringMatching(words) });
  });
});

it.each([
  ['postgres://db.example/x', 'others on the network may read and change what is sent'],
  ['postgres://db.example/x?sslmode=require', 'encrypted, but the certificate is not checked'],
  ['postgres://db.example/x?sslmode=verify-full', 'encrypted, and the certificate is checked'],
  ['postgres://localhost/x', 'on this machine'],
])('the line of %s: %s', (url, words) => {
  expect(checkLine(url).words).toContain(words);
});

describe('vestibule doctor', () => {
  it('reports success, line by line, and sends a test email through the normal path', async () => {
    const VESTIBULE_CONFIG = join(folder, 'config.json');
    const hub = `http://127.0.0.1:${await withStatus(401)}`;
    await writeFile(VESTIBULE_CONFIG, JSON.stringify({ hub: { url: hub } }));
    const { code, lines, err } = await doctor('--send-to ada@acme.example', { SMTP_URL: server.url, VESTIBULE_CONFIG });
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(lines).toEqual([
      'ok      – configuration – for http://localhost:8080/portal/',
      'warning – links – still at their placeholders: links.support, links.imprint, links.solutions – set them in the configuration file',
      'skipped – data folder – not used with DATABASE_URL and SMTP_URL',
      'ok      – database – up to date',
      'ok      – line to the database – on this machine',
      'ok      – secrets – everything is sealed under the first secret',
      'ok      – reverse proxy – none has been met that trustedProxies lacks',
      'ok      – single sign-on – nothing expires within 60 days, and no domain is locked out',
      'ok      – desk – nobody administers a customer',
      `ok      – hub – ${hub} answers 401 to a visitor who is not signed in`,
      `ok      – mail connection – 127.0.0.1:${server.port} answers`,
      'ok      – mail TLS – encrypted by STARTTLS, with a valid certificate',
      'ok      – mail login – accepted',
      `ok      – test mail – to ada@acme.example: accepted by 127.0.0.1:${server.port}`,
    ]);
    expect(server.mails).toMatchObject([
      { envelope: { to: ['ada@acme.example'] }, parsed: { subject: 'Test email from Vestibule' } },
    ]);
  });

  it('says where an email is if there is no mail server', async () => {
    const { code, lines } = await doctor('--send-to ada@acme.example');
    expect([code, lines[2]]).toEqual([0, `ok      – data folder – ${join(folder, 'data')} is writable`]);
    expect(lines.at(-2)).toMatch(/^ok {6}– mail outbox – .*\/data\/outbox and are not delivered – set SMTP_URL$/);
    const path = /^ok {6}– test mail – to ada@acme\.example: written to (\S+)$/.exec(lines.at(-1) ?? '')?.[1];
    expect(await readFile(path ?? '', 'utf8')).toContain('\nTo: ada@acme.example\n');
    expect(await readdir(join(folder, 'data'))).toEqual(['outbox']);
  });

  it('names the step at which the mail server fails, and the remedy, with exit code 1', async () => {
    const untrusted = await doctor('--send-to a@b.example', { SMTP_URL: server.url, NODE_EXTRA_CA_CERTS: '' });
    expect([untrusted.code, ...untrusted.lines.slice(-4)]).toEqual([
      1,
      `ok      – mail connection – 127.0.0.1:${server.port} answers`,
      expect.stringMatching(/^failed {2}– mail TLS – .*that is not trusted here .* – .*NODE_EXTRA_CA_CERTS$/),
      'skipped – mail login – not tried',
      'skipped – test mail – not tried',
    ]);
    const wrong = await doctor('--json', { SMTP_URL: server.url.replace(auth.password, 'Canary-wrong') });
    expect(JSON.parse(wrong.lines.join('\n'))).toContainEqual({
      ...{ check: 'mail login', ok: false },
      words: expect.stringMatching(/did not accept the login: 535 .* – check user and password in SMTP_URL$/),
    });
    const plain = await mailServerForTest({ tls: 'off' });
    const unencrypted = await doctor('', { SMTP_URL: plain.url.replace('?starttls=off', '') });
    await plain.close();
    expect(unencrypted.lines.at(-3)).toMatch(/– mail TLS – .* does not offer .*smtps:\/\/ is for .*\?starttls=off/);
    server.behave({ at: 'rcpt', code: 550, words: 'no such user' });
    const refused = await doctor('--send-to ada@acme.example', { SMTP_URL: server.url });
    expect(refused.lines.at(-1)).toMatch(/^failed {2}– test mail – .* refused the recipient: 550 no such user$/);
  });

  it('fails on a reverse proxy that was met, until it is trusted', async () => {
    const met = { event: 'proxy-not-trusted', address: '127.0.0.1' } as const;
    await insertAuditEvent(commands.sql, met, new Date());
    const { code, lines } = await doctor('');
    expect([code, lines]).toEqual([
      1,
      expect.arrayContaining([
        expect.stringMatching(/^failed {2}– reverse proxy – .* add "trustedProxies": \["127\.0\.0\.1"\] in the config/),
      ]),
    ]);
    const VESTIBULE_CONFIG = join(folder, 'config.json');
    await writeFile(VESTIBULE_CONFIG, '{ "trustedProxies": ["127.0.0.0/8"] }');
    expect((await doctor('', { VESTIBULE_CONFIG })).code).toBe(0);
    await commands.sql`delete from audit_event`;
  });

  it('exits with 1 if the data folder is not writable', async () => {
    await writeFile(join(folder, 'data'), 'a file in its place');
    const { code, lines } = await doctor('');
    expect(code).toBe(1);
    expect(lines[2]).toMatch(/^failed {2}– data folder – The data folder .* cannot be used .*EEXIST/);
  });

  it('exits with 3 on a wrong configuration, and tries nothing else', async () => {
    const { code, lines } = await doctor('', { PORT: 'x', SMTP_URL: 'smtp://hub:Canary-8@' });
    expect(code).toBe(3);
    expect(lines).toEqual([expect.stringMatching(/^failed {2}– configuration – PORT: .*; SMTP_URL: /)]);
  });
});
