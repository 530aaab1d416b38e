import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Command } from 'commander';
import { expect, it } from 'vitest';
import { clusterFolder } from '#server/database/embedded/cluster.ts';
import { findPostgresProcess } from '#server/database/embedded/process.ts';
import { commandsOfFile } from '#test/support/commands-of-file.ts';
import { quickFolder } from '#test/support/quick-folder.ts';
import { runVestibule } from '#test/support/run-vestibule.ts';
import { buildProgram } from './program.ts';

const commands = commandsOfFile();

/** The commands that do something, by their full names. */
function commandsOf(command: Command, name = ''): [string, Command][] {
  if (command.commands.length === 0) return [[name, command]];
  return command.commands.flatMap((below) => commandsOf(below, `${name} ${below.name()}`.trim()));
}

it('every command is there, and every one takes --json', () => {
  const all = commandsOf(buildProgram());
  expect(all.map(([name]) => name)).toEqual(
    expect.arrayContaining([
      ...['serve', 'demo', 'migrate', 'config check', 'audit', 'explain', 'doctor'],
      ...['add', 'list', 'set', 'remove'].map((name) => `customer ${name}`),
      ...['add', 'list', 'show', 'set', 'unlock', 'reset-two-factor', 'remove'].map((name) => `user ${name}`),
      ...['add oidc', 'add saml', 'list', 'test', 'remove'].map((name) => `connection ${name}`),
    ]),
  );
  const without = all.filter(([, { options }]) => !options.some(({ long }) => long === '--json'));
  expect(without.map(([name]) => name)).toEqual([]);
});

it('a Node that is too old is refused in one sentence', async () => {
  const folder = await mkdtemp(join(quickFolder, 'vestibule-old-node-'));
  await copyFile(join(import.meta.dirname, '../vestibule'), join(folder, 'vestibule'));
  await writeFile(join(folder, 'node'), '#!/bin/sh\necho v20.19.1\n', { mode: 0o755 });
  const child = spawn(join(folder, 'vestibule'), ['--version'], { env: { PATH: `${folder}:/usr/bin:/bin` } });
  const [err, [code]] = await Promise.all([text(child.stderr), once(child, 'close')]);
  const words = `Vestibule needs Node 24 or newer, and ${folder}/node is v20.19.1: run npm ci here first.\n`;
  expect([code, err]).toEqual([1, words]);
  await rm(folder, { recursive: true });
});

it.each([
  ...['frobnicate', 'user', 'user add alice', 'user add alice --email a@b.example --password geheim'],
  ...['customer set acme', 'user set alice', 'user set alice --active --inactive', 'user set alice --language fr'],
  ...['customer set acme --allow-anywhere --allow-network 10.0.0.0/8', 'customer add acme --two-factor sms'],
  ...[
    'audit --limit 0',
    'audit --since yesterday',
    'audit --since 2026-02-30',
    'user passkeys',
    'user import - --from okta',
  ],
])('%s is wrong usage: exit code 2, and nothing is done', async (line) => {
  const { code, out, err } = await commands.vestibule(line);
  expect([code, out, err === '']).toEqual([2, '', false]);
  expect(await commands.events()).toEqual([]);
});

it('an unavailable configuration or database exits with 3, in one sentence without a password', async () => {
  const wrong = await commands.vestibule('user list', '', { PORT: 'x' });
  expect(wrong).toMatchObject({ code: 3, out: '', err: expect.stringContaining('PORT: ') });
  const away = await commands.vestibule('user list', '', {
    DATABASE_URL: 'postgres://someone:canary@127.0.0.1:1/none',
  });
  expect(away).toMatchObject({ code: 3, out: '', err: expect.stringMatching(/^The database is not available: .*\n$/) });
  expect(away.err).not.toContain('canary');
});

it('without a server and DATABASE_URL a command makes its own database, and leaves nothing running', async () => {
  const alone = await mkdtemp(join(quickFolder, 'vestibule-alone-'));
  const options = { env: { VESTIBULE_DATA: alone } };
  expect(await runVestibule(['customer', 'add', 'acme'], options)).toMatchObject({ code: 0, err: '' });
  expect((await runVestibule(['customer', 'list'], options)).out).toContain('acme');
  expect(await findPostgresProcess(clusterFolder(alone))).toBeNull();
  await rm(alone, { recursive: true });
});

it('config check names every problem, and shows no secret', async () => {
  const file = join(commands.folder, 'config.json');
  await writeFile(file, '{"nonsense": 1}');
  const check = async (env: Record<string, string>) =>
    await commands.vestibule('config check', '', {
      VESTIBULE_CONFIG: file,
      SMTP_URL: 'smtps://hub:Canary-8@mail.test',
      ...env,
    });
  const wrong = await check({ PUBLIC_URL: 'ftp://x' });
  expect(wrong.code).toBe(1);
  for (const name of ['nonsense', 'PUBLIC_URL']) expect(wrong.err).toContain(name);
  await writeFile(file, '{}');
  const fine = await check({});
  expect(fine).toMatchObject({ code: 0, err: '', out: expect.stringContaining('The configuration is valid.') });
  expect(fine.out).toMatch(/^Mails to +mail\.test:465$/m);
  expect(fine.out).toContain('Warning: still at their placeholders: links.support');
  for (const secret of ['Canary', commands.env.VESTIBULE_SECRET, new URL(commands.env.DATABASE_URL).password])
    expect(fine.out + wrong.out + wrong.err).not.toContain(secret || 'Canary');
  const json = await commands.vestibule('config check --json');
  expect(JSON.parse(json.out)).toMatchObject({ ok: true, summary: { dataFolder: commands.folder } });
});

it('keys roll leaves one new key for hubs', async () => {
  for (let round = 0; round < 2; round += 1)
    expect(await commands.vestibule('keys roll --yes')).toMatchObject({
      code: 0,
      out: expect.stringContaining('new key signs'),
    });
  expect(await commands.sql`select from hub_key`).toHaveLength(1);
});
