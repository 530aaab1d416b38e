import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import PostalMime from 'postal-mime';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { mailServerForTest } from '#test/support/mail-for-test.ts';
import { readConfig } from '../config/config.ts';
import { folderTransport, openTransport, outboxFile, outboxOf } from './transport.ts';

const link = `https://hub.example.com/portal/forgotten-change?hash=${'T0k_'.padEnd(43, 'aB3-')}&lang=de`;
const words = {
  subject: 'Grüße',
  text: `Schönen Tag!\n\n${link}\n\nbis bald`,
  html: `<p><a href="${link}">Ändern</a></p>`,
};
const mail = { id: '0198c7e2-6f3b', recipient: 'ada@acme.example', queuedAt: new Date('2026-03-04T10:00:00Z') };
const sender = { name: 'Hub', address: 'no-reply@hub.example.com', host: 'hub.example.com' };

let dataFolder: string;
let outbox: string;
let lines: string[];
beforeEach(async () => {
  dataFolder = await mkdtemp(join(tmpdir(), 'vestibule-outbox-'));
  outbox = outboxOf(dataFolder);
  lines = [];
});
afterEach(() => rm(dataFolder, { recursive: true }));

function open(env: NodeJS.ProcessEnv) {
  const result = readConfig({ VESTIBULE_DATA: dataFolder, ...env });
  if (result.kind === 'refused') throw new Error(result.problems.join('\n'));
  const log = (level: string) => (text: string) => void lines.push(`${level}: ${text}`);
  return openTransport(result.config, { info: log('info'), warn: log('warn') });
}

test('emails go to the outbox, or with SMTP_URL to the server, and credentials are not logged', async () => {
  await open({}).send(mail, words);
  expect(await readdir(outbox)).toHaveLength(1);
  await rm(outbox, { recursive: true });
  const server = await mailServerForTest({ tls: 'off', auth: { user: 'hub', password: 'Canary-8' } });
  const transport = open({ SMTP_URL: server.url, PUBLIC_URL: 'https://10.0.0.5' });
  await transport.send(mail, words);
  transport.close();
  expect(server.mails[0]).toMatchObject({
    envelope: { from: 'no-reply@10.0.0.5', to: ['ada@acme.example'] },
    greeting: '[10.0.0.5]',
    parsed: { from: { name: 'Vestibule', address: 'no-reply@10.0.0.5' } },
  });
  await server.close();
  expect(await readdir(dataFolder)).toEqual([]);
  open({ SMTP_URL: 'smtps://hub:Canary-8@smtp.example.com' });
  expect(lines).toEqual([
    expect.stringMatching(/^warn: SMTP_URL is not set: .*outbox/),
    `warn: Emails are sent through 127.0.0.1:${server.port} without encryption (starttls=off)`,
    'info: Emails are sent through smtp.example.com:465',
  ]);
});

const modeOf = async (path: string) => (await stat(path)).mode & 0o777;

test('writes an email to the outbox as a file that email programs open', async () => {
  await folderTransport(outbox, sender).send(mail, words);
  expect(await readdir(outbox)).toEqual(['2026-03-04T10-00-00.000Z-0198c7e2-6f3b.eml']);
  const parsed = await PostalMime.parse(await readFile(outboxFile(outbox, mail)));
  expect(parsed).toMatchObject({
    from: { name: 'Hub', address: 'no-reply@hub.example.com' },
    to: [{ address: 'ada@acme.example' }],
    subject: 'Gr\u00fc\u00dfe',
    messageId: '<0198c7e2-6f3b@hub.example.com>',
    date: '2026-03-04T10:00:00.000Z',
    text: expect.stringContaining('Sch\u00f6nen Tag!'),
    html: expect.stringContaining('\u00c4ndern'),
  });
});

test("only the portal's user can read the folder and the file, even if the folder was open", async () => {
  await mkdir(outbox);
  await chmod(outbox, 0o755);
  const before = process.umask(0);
  try {
    await folderTransport(outbox, sender).send(mail, words);
  } finally {
    process.umask(before);
  }
  expect(await modeOf(outbox)).toBe(0o700);
  expect(await modeOf(outboxFile(outbox, mail))).toBe(0o600);
});

test('reports a folder that cannot be written to as down for all emails', async () => {
  await writeFile(outbox, 'a file in its place');
  await expect(folderTransport(outbox, sender).send(mail, words)).rejects.toMatchObject({
    ...{ why: 'away', message: `the outbox ${outbox} cannot be written (mkdir: EEXIST)` },
  });
});
