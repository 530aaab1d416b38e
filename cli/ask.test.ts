import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { verifyPassword } from '#server/crypto/password-hash.ts';
import { addCustomerTo, addUserTo, commandsOfFile } from '#test/support/commands-of-file.ts';
import { runVestibuleProcess } from '#test/support/run-vestibule.ts';

const canary = 'Canary-of-the-mine-8';
const add = 'user add alice --email alice@acme.example';

const commands = commandsOfFile({
  each: async (sql) => {
    await addCustomerTo(sql, 'acme', 'Acme Instruments');
    await addCustomerTo(sql, 'beta', 'Beta Works');
  },
});
const vestibule = (line: string, input?: string | Buffer) => commands.vestibule(line, input);
const hashOf = async (username: string) =>
  (
    await commands.sql<
      { hash: string | null }[]
    >`select password_hash as hash from portal_user where username = ${username}`
  )[0]?.hash ?? null;

describe('a password on standard input', () => {
  it.each([
    `${canary}\n`,
    // As PowerShell sends and saves it.
    `\ufeff${canary}\r\n`,
    Buffer.from(`\ufeff${canary}\r\n`, 'utf16le'),
  ])('is taken without marks and its last line break, and shown nowhere (LG-06): %#', async (input) => {
    expect(await vestibule(`${add} --password-stdin`, input)).toEqual({
      ...{ code: 0, out: 'User alice added.\n' },
      err: expect.stringContaining('no customer'),
    });
    expect(await verifyPassword(await hashOf('alice'), canary, null)).toBe(true);
    for (const line of ['user list --json', 'user show alice --json', 'user show alice', 'audit --json', 'audit']) {
      const { out } = await vestibule(line);
      expect(out).toContain('alice');
      expect(out).not.toMatch(/Canary|argon2/);
    }
  });

  it.each<[string, string | Buffer, string]>([
    ['too short', 'Ab1!', 'at least 7 characters'],
    ['common', 'my-Password-77', 'common password'],
    ['with an invisible end', `${canary}\u200b`, 'invisible'],
    ['two lines', 'Correct\nhorse-77', 'control or invisible characters'],
    ['not UTF-8', Buffer.from([0x43, 0xff, 0xfe]), 'not valid UTF-8'],
    ['empty', '', 'at least 7 characters'],
  ])('that is %s is refused with an explanation', async (_, password, words) => {
    const refused = await vestibule(`${add} --password-stdin`, password);
    expect(refused).toEqual({ code: 1, out: '', err: expect.stringContaining(words) });
    expect(await commands.events()).toEqual([]);
  });

  it.each([
    ['user add maria.lopez --email m@acme.example --password-stdin', 'MariaLopez2026!'],
    ['user add maria --email m@a.example --customer acme --password-stdin', 'AcmeInstruments1'],
    ['user set alice --rename Alicia --password-stdin', 'Alicia-2026!'],
    ['user set alice --email other@a.example --password-stdin', 'Other-20260'],
    ['user set alice --add-customer beta --password-stdin', 'BetaWorks26'],
  ])('PW-05 %s refuses %s, which is just a name', async (line, password) => {
    await addUserTo(commands.sql, 'alice');
    const refused = await vestibule(line, password);
    expect(refused).toEqual({ code: 1, out: '', err: expect.stringContaining('just a name') });
    expect(refused.err).not.toContain(password);
  });

  it.each([`${canary}\n`, null])('that nobody asked for is not read: %j', async (input) => {
    const { code, err } = await runVestibuleProcess(add.split(' '), { env: commands.env, input });
    expect([code, err]).toEqual([1, expect.stringMatching(/--password-stdin.*--no-password/)]);
  });
});

it.each([
  ['user remove alice', 'This removes user alice for good'],
  ['user reset-two-factor alice', 'This removes the second factor of alice for good'],
  ['user set alice --no-password', 'This removes the password of alice for good'],
  ['customer remove acme', 'This removes customer acme for good'],
  ['connection keys --withdraw last', 'This deletes the last key of the portal for good'],
  ['keys roll', 'This withdraws every key for good'],
])('%s asks for --yes where there is no terminal, and does nothing', async (line, words) => {
  await addUserTo(commands.sql, 'alice');
  await vestibule('user set alice --password-stdin', canary);
  const before = await commands.events();
  expect(await vestibule(line)).toEqual({
    ...{ code: 1, out: '' },
    err: expect.stringMatching(
      `^${words}.*: nothing was changed, as there is no terminal to ask at and no --yes\\.\n$`,
    ),
  });
  expect(await commands.events()).toEqual(before);
  expect((await vestibule(`${line} --yes`)).err).not.toContain('--yes');
});

describe.runIf(process.platform === 'linux' && existsSync('/usr/bin/script'))('at a terminal', () => {
  /** Runs a command at a terminal, and answers what it asks in turn. */
  async function typeAt(line: string, answers: readonly string[]) {
    const command = `${process.execPath} ${join(import.meta.dirname, 'vestibule.ts')} ${line}`;
    const child = spawn('script', ['-qec', command, '/dev/null'], {
      env: { PATH: '/usr/bin:/bin', TERM: 'dumb', ...commands.env },
    });
    const rest = [...answers];
    let seen = '';
    child.stdout.on('data', (chunk) => {
      seen += String(chunk);
      if (!/: $/.test(seen) || rest.length === 0) return;
      seen = '';
      child.stdin.write(rest.shift() as string);
    });
    const ended = new Promise((resolve) => child.once('close', resolve));
    return { out: await text(child.stdout), code: await ended };
  }

  it.each([
    ['is asked for twice', [`${canary}\r`, `${canary}\r`], 0, 'User alice added.'],
    ['is refused if the two entries differ', [`${canary}\r`, `${canary}x\r`], 1, 'the two entries differ'],
    ['changes nothing on Ctrl-C', ['\u0003'], 1, 'nothing was changed'],
  ])('a password %s, and is not shown', async (_, answers, code, words) => {
    const typed = await typeAt(add, answers);
    expect(typed).toEqual({ code, out: expect.stringContaining(words) });
    expect(typed.out).not.toContain(canary);
    expect(await verifyPassword(await hashOf('alice'), canary, null)).toBe(code === 0);
  });

  it.each([
    ['yes\r', 0],
    ['y\r', 1],
    ['\u0003', 1],
  ])('what has consequences is done only after a yes: %j', async (answer, code) => {
    await vestibule(
      'connection add oidc main --customer acme --domain acme.example --issuer https://idp.acme.example --client-id a --client-auth private-key --required on',
    );
    const typed = await typeAt('connection remove main', [answer]);
    expect(typed).toEqual({ code, out: expect.stringContaining('can sign in with it again') });
    expect(await commands.sql`select from sso_connection`).toHaveLength(code);
  });
});
