import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { mailServerForTest } from '#test/support/mail-for-test.ts';
import { readConfig } from '../config/config.ts';
import { openTransport } from './open-transport.ts';

const mail = { id: '0198c7e2', recipient: 'ada@acme.example', queuedAt: new Date('2026-03-04T10:00:00Z') };
const words = { subject: 'Hello', text: 'Hello', html: '<p>Hello</p>' };

let dataFolder: string;
let lines: string[];
beforeEach(async () => {
  dataFolder = await mkdtemp(join(tmpdir(), 'vestibule-transport-'));
  lines = [];
});
afterEach(() => rm(dataFolder, { recursive: true }));

function open(env: NodeJS.ProcessEnv) {
  const result = readConfig({ VESTIBULE_DATA: dataFolder, ...env });
  if (result.kind === 'refused') throw new Error(result.problems.join('\n'));
  const log = (level: string) => (text: string) => void lines.push(`${level}: ${text}`);
  return openTransport(result.config, { info: log('info'), warn: log('warn') });
}

test('without SMTP_URL emails go to the outbox, with a log line', async () => {
  await open({}).send(mail, words);
  expect(await readdir(join(dataFolder, 'outbox'))).toHaveLength(1);
  expect(lines).toEqual([expect.stringMatching(/^warn: SMTP_URL is not set: .*outbox/)]);
});

test('with SMTP_URL the server gets them, and credentials are not logged', async () => {
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
    `warn: Emails are sent through 127.0.0.1:${server.port} without encryption (starttls=off)`,
    'info: Emails are sent through smtp.example.com:465',
  ]);
});
