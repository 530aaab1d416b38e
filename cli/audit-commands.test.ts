import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it } from 'vitest';
import { commandsOfFile } from '#test/support/commands-of-file.ts';

const vestibulePath = join(import.meta.dirname, 'vestibule.ts');
const commands = commandsOfFile({ each: async () => {} });
const outOf = async (line: string) => (await commands.vestibule(line)).out;

it('LG-03 audit lists events by kind, user and time, without terminal escapes', async () => {
  await commands.sql`
    insert into audit_event (at, event, username, address) values
      (now() - interval '3 days', 'signed-in', 'alice', '203.0.113.5'),
      (now(), 'sign-in-refused', ${'alice\u001b[2J\r\n\u202e'}, '203.0.113.5')`;
  const all = await outOf('audit');
  expect(all.split('\n')).toHaveLength(4);
  expect(all).toContain('alice\\u001b[2J\\u000d\\u000a\\u202e');
  expect(JSON.parse(await outOf('audit --json'))[0].username).toBe('alice\u001b[2J\r\n\u202e');
  for (const line of ['audit --since 2d', 'audit --limit 1 --json', 'audit --event sign-in-refused'])
    expect(await outOf(line)).not.toContain('signed-in');
  expect(await outOf('audit --user ALICE')).toContain('signed-in');
  expect((await commands.vestibule('audit --event nonsense')).code).toBe(1);
});

it('audit names the operating system user who ran a command, also through sudo', async () => {
  await commands.vestibule('customer add acme');
  await commands.vestibule('customer set acme --name Acme', '', { SUDO_USER: 'alice' });
  const events = JSON.parse(await outOf('audit --json')) as { actor: string }[];
  expect(events.map(({ actor }) => actor)).toEqual(['os:alice', `os:${userInfo().username}`]);
});

it('audit lists the events of a customer, also of people who have several', async () => {
  await commands.sql`
    insert into audit_event (at, event, username, customer_key) values
      (now(), 'signed-in', 'ada', 'acme, beta'), (now(), 'signed-in', 'bob', 'acme-labs')`;
  const events = JSON.parse(await outOf('audit --customer acme --json')) as { username: string }[];
  expect(events.map(({ username }) => username)).toEqual(['ada']);
});

it('audit --follow prints each event once, as it is recorded, until Ctrl-C', async () => {
  const record = async (username: string) =>
    await commands.sql`insert into audit_event (at, event, username) values (now(), 'signed-in', ${username})`;
  await record('first');
  const child = spawn(process.execPath, [vestibulePath, 'audit', '--follow', '--json'], { env: commands.env });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const next = async () => JSON.parse((await lines.next()).value ?? '').username as string;
  expect(await next()).toBe('first');
  for (const username of ['second', 'third']) {
    await record(username);
    expect(await next()).toBe(username);
  }
  child.kill('SIGINT');
  const [code] = await once(child, 'close');
  expect([code, (await lines.next()).done]).toEqual([0, true]);
});

it('explain shows the chain of decisions behind a reference, however it is typed', async () => {
  await commands.sql`
    insert into audit_event (at, event, reason, reference, steps) values
      (now(), 'sign-in-refused', 'network', 'K7Q2-M4XD',
        '[{"step": "account", "outcome": "found: alice"}, {"step": "networks of acme", "outcome": "do not admit 203.0.113.5"}]'),
      (now(), 'password-change-refused', '11', 'K7Q2-M4XF', '[]')`;
  const out = await outOf('explain k7q2m4xd');
  expect(out).toMatch(/Reason +network: the network isn’t approved/);
  expect(out).toMatch(/1\. account +found: alice\n.*2\. networks of acme +do not admit 203\.0\.113\.5/);
  expect(await outOf('explain K7Q2-M4XF')).toMatch(/Reason +11: the password is one of the last ten/);
  for (const line of ['explain K7Q2-M4XE', 'explain nonsense!']) expect((await commands.vestibule(line)).code).toBe(1);
});

it('explain finds what a request left whose page showed the beginning of its id, or says where to look', async () => {
  await commands.sql`
    insert into audit_event (at, event, request_id, steps) values
      (now(), 'request-refused', '3f2a91c0-8d5e-4b7a-9c1d-0a1b2c3d4e5f', '[{"step": "origin", "outcome": "elsewhere"}]'),
      (now(), 'request-refused', '3f2a91c1-8d5e-4b7a-9c1d-0a1b2c3d4e5f', '[{"step": "origin", "outcome": "another"}]')`;
  const out = await outOf('explain 3F2A-91C0');
  expect([out.match(/1\. origin +(\S+)/)?.[1], out.includes('another')]).toEqual(['elsewhere', false]);
  const unknown = await commands.vestibule('explain 3f2a91cf');
  expect([unknown.code, unknown.err]).toEqual([1, expect.stringContaining('search the log for 3f2a91cf')]);
});
