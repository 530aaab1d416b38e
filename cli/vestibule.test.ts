import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect as connectSocket, createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { addCustomer } from '#server/accounts/customers.ts';
import { addUser } from '#server/accounts/users.ts';
import { verifyPassword } from '#server/crypto/password-hash.ts';
import { connect } from '#server/database/connect.ts';
import type { Database } from '#server/database/database.ts';
import { clusterFolder } from '#server/database/embedded/cluster.ts';
import { type EmbeddedPostgres, openEmbedded } from '#server/database/embedded/embedded.ts';
import { findPostgresProcess } from '#server/database/embedded/process.ts';
import { migrate } from '#server/database/migrate.ts';
import { limits } from '#server/limits.ts';
import { accountKey } from '#server/throttle/throttle-keys.ts';
import { quickFolder } from '#test/support/quick-folder.ts';
import { countThrottleAttempt, emptyDatabase } from '#test/support/rows-for-test.ts';
import { runVestibule, runVestibuleProcess } from '#test/support/run-vestibule.ts';

const canary = 'Canary-of-the-mine-8';

let dataFolder: string;
let embedded: EmbeddedPostgres;
let sql: Database;

beforeAll(async () => {
  dataFolder = await mkdtemp(join(quickFolder, 'vestibule-commands-'));
  embedded = await openEmbedded({ dataFolder, log: { info() {}, warn() {} }, durable: false });
  sql = connect(embedded.place);
  await migrate(sql);
});
beforeEach(async () => {
  await emptyDatabase({ sql });
});
afterAll(async () => {
  await sql.end();
  await embedded.close();
  await rm(dataFolder, { recursive: true });
});

const env = () => ({ VESTIBULE_DATA: dataFolder, VESTIBULE_CONFIG: join(dataFolder, '.none.json') });

/** With `input` null the pipe stays open, which must not keep a process from ending. */
function vestibule(line: string, input: string | Buffer | null = '') {
  const surroundings = { env: { ...env(), VESTIBULE_CONFIG: '' } };
  if (input === null) return runVestibuleProcess(line.split(' '), { ...surroundings, input });
  return runVestibule(line.split(' '), { ...surroundings, input });
}

async function addAlice(): Promise<void> {
  const values = {
    username: 'alice',
    email: 'alice@acme.example',
    passwordHash: null,
    active: true,
    mayChangePassword: true,
  };
  await addUser(sql, { ...values, language: null, customers: ['acme'] }, new Date());
}

async function addAcme(key = 'acme'): Promise<void> {
  await addCustomer(sql, { key, name: key, allowedNetworks: [], twoFactor: 'off' }, new Date());
}

const hashOf = async (username: string) =>
  (await sql<{ hash: string | null }[]>`select password_hash as hash from portal_user where username = ${username}`)[0]
    ?.hash ?? null;
const events = async () =>
  (await sql<{ event: string }[]>`select event from audit_event order by id`).map(({ event }) => event);

describe('the command line', () => {
  test('a Node that is too old is refused in one sentence', async () => {
    const folder = await mkdtemp(join(quickFolder, 'vestibule-old-node-'));
    await copyFile(join(import.meta.dirname, '../vestibule'), join(folder, 'vestibule'));
    const run = async () => {
      const child = spawn(join(folder, 'vestibule'), ['--version'], { env: { PATH: `${folder}:/usr/bin:/bin` } });
      const [err, code] = await Promise.all([text(child.stderr), once(child, 'close')]);
      return { err, code: code[0] };
    };
    await writeFile(join(folder, 'node'), '#!/bin/sh\necho v20.19.1\n', { mode: 0o755 });
    const old = `Vestibule needs Node 24 or newer, and ${folder}/node is v20.19.1: run npm ci here first.\n`;
    expect(await run()).toEqual({ code: 1, err: old });
    await rm(folder, { recursive: true });
  });

  test('explains itself to a newcomer', async () => {
    const { code, out } = await vestibule('--help');
    expect(code).toBe(0);
    for (const word of [
      'serve',
      'migrate',
      'config',
      'customer',
      'user',
      'audit',
      'explain',
      'Exit codes',
      'customer add acme',
    ]) {
      expect(out).toContain(word);
    }
    const help = (await vestibule('user add --help')).out.replace(/\s+/g, ' ');
    expect(help).toContain('--password-stdin');
    // Pages are in the browser's language, or in that of the address (decisions §2).
    expect(help).toContain('language of emails, not of pages; "browser": that of the page');
  });

  test('wrong usage exits with 2, and nothing is done', async () => {
    const lines = [
      ...['frobnicate', 'user', 'user add alice', 'user add alice --email a@b.example --password geheim'],
      ...['customer set acme', 'user set alice', 'user set alice --active --inactive', 'user set alice --language fr'],
      ...['customer set acme --allow-anywhere --allow-network 10.0.0.0/8', 'customer add acme --two-factor sms'],
      ...['audit --limit 0', 'audit --since yesterday'],
    ];
    for (const { code, out, err } of await Promise.all(lines.map((line) => vestibule(line)))) {
      expect({ code, out }).toEqual({ code: 2, out: '' });
      expect(err).not.toBe('');
    }
    expect(await events()).toEqual([]);
  });

  test('an unavailable configuration or database exits with 3, in one sentence', async () => {
    const wrong = await runVestibule(['user', 'list'], { env: { ...env(), VESTIBULE_CONFIG: '', PORT: 'x' } });
    expect(wrong).toMatchObject({ code: 3, out: '' });
    expect(wrong.err).toContain('PORT: ');
    const databaseUrl = 'postgres://someone:hunter2-canary@127.0.0.1:1/none';
    const away = await runVestibule(['user', 'list'], {
      env: { DATABASE_URL: databaseUrl, VESTIBULE_SECRET: 'x'.repeat(40) },
    });
    expect(away).toMatchObject({ code: 3, out: '' });
    expect(away.err).toMatch(/^The database is not available: .*\n$/);
    expect(away.err).not.toContain('canary');
  });

  test('works with DATABASE_URL', async () => {
    if ('url' in embedded.place) throw new Error('the built-in database has a socket');
    const { path, user, password } = embedded.place;
    const bridge = createServer((socket) =>
      socket
        .pipe(connectSocket(path))
        .on('error', () => {})
        .pipe(socket)
        .on('error', () => {}),
    );
    await new Promise<void>((resolve) => bridge.listen(0, '127.0.0.1', resolve));
    const { port } = bridge.address() as { port: number };
    const databaseUrl = `postgres://${user}:${password}@127.0.0.1:${port}/postgres`;
    const settings = {
      env: { DATABASE_URL: databaseUrl, VESTIBULE_SECRET: 'x'.repeat(40), VESTIBULE_DATA: '/nowhere' },
    };
    expect(await runVestibule(['customer', 'add', 'acme'], settings)).toMatchObject({ code: 0, err: '' });
    const check = await runVestibule(['config', 'check'], settings);
    expect(check.out).toContain(`127.0.0.1:${port}/postgres`);
    expect(check.out).not.toContain(password);
    expect(await runVestibule(['migrate'], settings)).toMatchObject({ code: 0, out: 'The database is up to date.\n' });
    bridge.close();
    expect((await vestibule('customer list')).out).toContain('acme');
  });

  test('works without a server: creates the database, does its work and leaves nothing running', async () => {
    const alone = await mkdtemp(join(quickFolder, 'vestibule-alone-'));
    const options = { env: { VESTIBULE_DATA: alone } };
    expect(await runVestibule(['customer', 'add', 'acme'], options)).toMatchObject({ code: 0, err: '' });
    expect(await findPostgresProcess(clusterFolder(alone))).toBeNull();
    expect((await runVestibule(['customer', 'list'], options)).out).toContain('acme');
    expect(await findPostgresProcess(clusterFolder(alone))).toBeNull();
    await rm(alone, { recursive: true });
  });

  test('config check reports problems, and shows no secret', async () => {
    const file = join(dataFolder, '.config.json');
    await writeFile(file, '{"nonsense": 1}');
    const secret = 'canary-secret-canary-secret-canary-secret';
    const wrong = await runVestibule(['config', 'check'], {
      env: { ...env(), VESTIBULE_CONFIG: file, PUBLIC_URL: 'ftp://x', VESTIBULE_SECRET: secret },
    });
    expect(wrong.code).toBe(1);
    expect(wrong.err).toContain('nonsense');
    expect(wrong.err).toContain('PUBLIC_URL');
    await writeFile(file, '{}');
    const fine = await runVestibule(['config', 'check'], {
      env: { ...env(), VESTIBULE_CONFIG: file, VESTIBULE_SECRET: secret },
    });
    expect(fine).toMatchObject({ code: 0, err: '' });
    expect(fine.out).toContain('The configuration is valid.');
    expect(fine.out + wrong.out + wrong.err).not.toContain(secret);
    const asJson = await runVestibule(['config', 'check', '--json'], { env: { ...env(), VESTIBULE_CONFIG: file } });
    expect(JSON.parse(asJson.out)).toMatchObject({ ok: true, summary: { dataFolder } });
  });
});

describe('customers', () => {
  test('MF-12 that begin to require an app: a warning with the number of users who prove nothing else first', async () => {
    await vestibule('customer add acme --two-factor email');
    const given = await vestibule(
      'user add bea --email bea@acme.example --customer acme --password-stdin',
      'correct horse battery staple',
    );
    expect(given.code).toBe(0);
    const changed = await vestibule('customer set acme --two-factor app');
    expect(changed).toMatchObject({ code: 0, err: expect.stringContaining('nor a confirmed email: 1.') });
    expect((await vestibule('customer set acme --two-factor app')).err).toBe('');
    expect((await vestibule('customer set acme --two-factor email')).err).toBe('');
    // A code by email comes first for whoever has confirmed one.
    await sql`insert into email_factor select id, now() from portal_user where username = 'bea'`;
    expect(await vestibule('customer set acme --two-factor app')).toMatchObject({ code: 0, err: '' });
  });

  test('are added, listed, changed and removed', async () => {
    const added = await runVestibule(
      ['customer', 'add', 'acme', '--name', 'Müller & 李', '--allow-network', '203.0.113.0/24', '--json'],
      { env: { VESTIBULE_DATA: dataFolder } },
    );
    expect(JSON.parse(added.out)).toMatchObject({
      key: 'acme',
      name: 'Müller & 李',
      allowedNetworks: ['203.0.113.0/24'],
      twoFactor: 'off',
      active: true,
    });
    expect((await vestibule('customer list')).out).toMatch(
      /^KEY +NAME +USERS.*\nacme +Müller & 李 +0 +203\.0\.113\.0\/24 +off +yes +\d{4}-\d\d-\d\d .*\+0[12]:00\n$/,
    );
    const set = await vestibule('customer set acme --allow-anywhere --two-factor app --disable --json');
    expect(JSON.parse(set.out)).toMatchObject({ allowedNetworks: [], twoFactor: 'app', active: false });
    expect((await vestibule('customer set acme --enable')).out).toContain('active: no → yes');
    expect((await vestibule('customer remove acme')).code).toBe(0);
    expect(JSON.parse((await vestibule('customer list --json')).out)).toEqual([]);
    expect(await events()).toEqual(['customer-added', 'customer-changed', 'customer-changed', 'customer-removed']);
  });

  test.each([
    ['customer add Acme', 'key: '],
    ['customer add bank --allow-network 203.0.113.5/24', 'write 203.0.113.0/24'],
    ['customer set acme --allow-network 300.1.1.1', 'network: '],
    ['customer set nobody --disable', 'There is no customer nobody.'],
    ['customer remove nobody', 'There is no customer nobody.'],
    ['customer add acme', 'customer acme already exists'],
  ])('%s is refused and changes nothing', async (line, words) => {
    await addAcme();
    const { code, out, err } = await vestibule(line);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain(words);
    expect(await events()).toEqual(['customer-added']);
  });
});

describe('users', () => {
  beforeEach(async () => {
    for (const key of ['acme', 'beta']) await addAcme(key);
  });

  test('are added with a piped password, minus one final line break, and nothing is shown (LG-06)', async () => {
    const { code, out, err } = await vestibule(
      'user add alice --email alice@acme.example --customer acme --password-stdin',
      `${canary}\n`,
    );
    expect({ code, out, err }).toEqual({ code: 0, out: 'User alice added.\n', err: '' });
    const hash = (await hashOf('alice')) as string;
    expect(await verifyPassword(hash, canary, null)).toBe(true);
    const shown = await Promise.all(
      ['user list --json', 'user show alice --json', 'user show alice', 'audit --json', 'audit'].map((line) =>
        vestibule(line),
      ),
    );
    for (const { out } of shown) {
      expect(out).toContain('alice');
      expect(out).not.toContain(canary);
      expect(out).not.toContain('argon2');
    }
    expect(await events()).toContain('user-added');
  });

  test.each([
    ['short', 'Ab1!', 'at least 7 characters'],
    ['long', 'Ab1!'.repeat(19), 'at most 72 characters'],
    ['common', 'my-Password-77', 'common password'],
    ['weak', 'aaaaaaaa', 'too weak'],
    ['control characters', 'Correct\u0007horse-77', 'control characters'],
    ['a line break inside', 'Correct\nhorse-77', 'control characters'],
    ['not UTF-8', Buffer.from([0x43, 0xff, 0xfe]), 'not valid UTF-8'],
    ['empty', '', 'at least 7 characters'],
  ])('a password that is %s is refused with an explanation and nothing changes', async (_, password, words) => {
    const { code, out, err } = await vestibule('user add alice --email alice@acme.example --password-stdin', password);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain(words);
    expect(await hashOf('alice')).toBeNull();
    expect(await events()).toEqual(['customer-added', 'customer-added']);
  });

  test.each([
    ['a password', `${canary}\n`],
    ['nothing', ''],
    ['a pipe that nobody ends', null],
  ])('are not added without a password or a flag for none, with %s on standard input', async (_, input) => {
    const { code, out, err } = await vestibule('user add alice --email alice@acme.example --customer acme', input);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain('--password-stdin');
    expect(err).toContain('--no-password');
    expect(await sql`select from portal_user`).toHaveLength(0);
  });

  test.each([
    ['/dev/null', '< /dev/null', 'The password was not accepted'],
    ['a closed one', '<&-', 'The password was not accepted'],
    ['one without an end', '< /dev/zero', 'too long'],
  ])('%s as standard input ends with a refusal', async (_, redirection, words) => {
    const command = `"$0" "$1" user add alice --email alice@acme.example --password-stdin ${redirection}`;
    const entry = join(import.meta.dirname, 'vestibule.ts');
    const child = spawn('/bin/sh', ['-c', command, process.execPath, entry], {
      env: { PATH: '/usr/bin:/bin', ...env(), VESTIBULE_CONFIG: '' },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const ended = new Promise((resolve) => child.once('close', resolve));
    expect(await text(child.stderr)).toContain(words);
    expect(await ended).toBe(1);
  });

  test('a slow password is waited for, with a message', async () => {
    const child = spawn(
      process.execPath,
      [
        join(import.meta.dirname, 'vestibule.ts'),
        ...'user add alice --email alice@acme.example --password-stdin'.split(' '),
      ],
      { env: { PATH: '/usr/bin:/bin', ...env(), VESTIBULE_CONFIG: '' } },
    );
    child.stderr.once('data', () => child.stdin.end(canary));
    const ended = new Promise((resolve) => child.once('close', resolve));
    expect(await text(child.stderr)).toContain('Waiting for the password on standard input …\n');
    expect(await ended).toBe(0);
    expect(await verifyPassword(await hashOf('alice'), canary, null)).toBe(true);
  });

  test('have no password with --no-password', async () => {
    const { out } = await vestibule('user add alice --email alice@acme.example --customer acme --no-password');
    expect(out).toBe(
      'User alice added, without a password.\nTo have them choose one by email: vestibule user invite alice\n',
    );
    expect(await hashOf('alice')).toBeNull();
  });

  test('are invited to choose one, with their names or addresses; all or nobody', async () => {
    await addAlice();
    expect(await vestibule('user invite alice@acme.example alice')).toEqual({
      code: 0,
      out: 'User alice is invited by an email to alice@acme.example; its link works once, within 72 hours.\n',
      err: expect.stringMatching(/^SMTP_URL is not set: emails are written to .* and are not delivered\.\n$/),
    });
    const again = await vestibule('user invite alice --json');
    expect([again.code, JSON.parse(again.out)]).toEqual([0, [{ invited: 'alice', email: 'alice@acme.example' }]]);
    expect(await vestibule('user invite nobody')).toEqual({
      code: 1,
      out: '',
      err: 'User nobody cannot be invited: there is no such user.\n',
    });
    await vestibule('user set alice --inactive');
    expect(await vestibule('user invite alice nobody')).toEqual({
      code: 1,
      out: '',
      err: 'User alice cannot be invited: the user is inactive.\nUser nobody cannot be invited: there is no such user.\nNobody was invited.\n',
    });
    expect((await vestibule('user invite')).code).toBe(2);
    expect((await events()).filter((event) => event === 'invited')).toHaveLength(2);
  });

  test.each([
    ['user add al\u00adice --email a@b.example', 'username: '],
    ['user add bob --email nonsense', 'email: '],
    ['user add ALICE --email other@b.example --no-password', 'username: another user'],
    ['user add bob --email alice@ACME.example. --no-password', 'email: another user'],
    ['user add bob --email bob@b.example --customer nope --no-password', 'there is no customer nope'],
    ['user set alice --customer nope', 'there is no customer nope'],
    ['user set nobody --inactive', 'There is no user nobody.'],
    ['user show nobody', 'There is no user nobody.'],
    ['user unlock nobody', 'There is no user nobody.'],
    ['user sign-out nobody', 'There is no user nobody.'],
    ['user remove nobody', 'There is no user nobody.'],
    ['user set alice --password', 'No terminal to ask'],
  ])('%j is refused and changes nothing (UN-04, UN-05, UN-08)', async (line, words) => {
    await addAlice();
    const before = await events();
    const { code, out, err } = await vestibule(line);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain(words);
    expect(await events()).toEqual(before);
  });

  test('are changed only where named, by username or email', async () => {
    await addAlice();
    await vestibule('user set alice@acme.example --add-customer beta --language de --no-password-change --inactive');
    expect(JSON.parse((await vestibule('user show alice --json')).out)).toMatchObject({
      customers: ['acme', 'beta'],
      language: 'de',
      mayChangePassword: false,
      active: false,
    });
    await vestibule(
      'user set alice --remove-customer acme --language browser --password-change --active --rename Alicia --email a@new.example',
    );
    expect(JSON.parse((await vestibule('user show a@new.example --json')).out)).toMatchObject({
      username: 'Alicia',
      customers: ['beta'],
      language: null,
      mayChangePassword: true,
      active: true,
    });
    expect((await vestibule('user set Alicia --customer acme')).out).toContain('customers: beta → acme');
    expect((await vestibule('user set Alicia --customer acme')).out).toContain('already has these settings');
  });

  test('a new password ends sessions; so does removing it', async () => {
    await addAlice();
    const addSession = () => sql`
      insert into session (token_hash, user_id, stage, customer_ids, address, created_at, last_seen_at, ends_at)
      select sha256('x'), id, 'full', '{}', '127.0.0.1', now(), now(), now() + interval '1 hour' from portal_user`;
    await addSession();
    const { out } = await vestibule('user set alice --password-stdin', canary);
    expect(out).toContain('sessions ended: 1');
    expect(await verifyPassword(await hashOf('alice'), canary, null)).toBe(true);
    await addSession();
    expect((await vestibule('user set alice --no-password')).out).toContain('password: removed');
    expect(await hashOf('alice')).toBeNull();
    expect(await sql`select from session`).toHaveLength(0);
  });

  test('are unlocked', async () => {
    await addAlice();
    const [user] = await sql<{ id: string }[]>`select id from portal_user`;
    await countThrottleAttempt(
      sql,
      { key: accountKey(user?.id as string), limit: limits.throttle.account },
      new Date(),
    );
    expect((await vestibule('user unlock ALICE')).out).toBe('User ALICE is unlocked.\n');
    expect(await sql`select from throttle`).toHaveLength(0);
  });

  test('are listed by part of a name and by customer, and removed', async () => {
    await addAlice();
    await vestibule('user add bob --email bob@beta.example --customer beta --no-password');
    expect((await vestibule('user list ACME')).out).toMatch(/alice/);
    expect((await vestibule('user list --customer beta')).out).not.toMatch(/alice/);
    expect((await vestibule('user remove bob')).out).toBe('User bob removed.\n');
    expect((await vestibule('user list beta')).out).toBe('No user matches.\n');
    expect(await events()).toEqual(['customer-added', 'customer-added', 'user-added', 'user-added', 'user-removed']);
  });
});

describe('a password at a terminal', () => {
  const hasScript = process.platform === 'linux' && existsSync('/usr/bin/script');

  async function typeAtTerminal(line: string, answers: readonly string[]) {
    const entry = join(import.meta.dirname, 'vestibule.ts');
    const command = `${process.execPath} ${entry} ${line}`;
    const child = spawn('script', ['-qec', command, '/dev/null'], {
      env: { PATH: '/usr/bin:/bin', TERM: 'dumb', ...env(), VESTIBULE_CONFIG: '' },
    });
    const rest = [...answers];
    let seen = '';
    child.stdout.on('data', (chunk) => {
      seen += String(chunk);
      if (/: $/.test(seen) && rest.length > 0) {
        seen = '';
        child.stdin.write(rest.shift() as string);
      }
    });
    const out = await text(child.stdout);
    return { out, code: child.exitCode ?? (await new Promise<number>((resolve) => child.once('close', resolve))) };
  }

  test.runIf(hasScript)('is asked for twice and not shown', async () => {
    const { out, code } = await typeAtTerminal('user add alice --email alice@acme.example', [
      `${canary}\r`,
      `${canary}\r`,
    ]);
    expect(out).toContain('User alice added.');
    expect(code).toBe(0);
    expect(out).not.toContain(canary);
    expect(await verifyPassword(await hashOf('alice'), canary, null)).toBe(true);
  });

  test.runIf(hasScript)('is refused if the two entries differ', async () => {
    const { out, code } = await typeAtTerminal('user add alice --email alice@acme.example', [
      `${canary}\r`,
      `${canary}x\r`,
    ]);
    expect(out).toContain('the two entries differ');
    expect(code).toBe(1);
    expect(await events()).toEqual([]);
  });

  test.runIf(hasScript)('changes nothing on Ctrl-C at the question', async () => {
    const { out, code } = await typeAtTerminal('user add alice --email alice@acme.example', ['\u0003']);
    expect(out).toContain('nothing was changed');
    expect(code).toBe(1);
    expect(await events()).toEqual([]);
  });
});

describe('audit and explain', () => {
  beforeEach(async () => {
    await sql`
      insert into audit_event (at, event, reason, reference, username, address, steps) values
        (now() - interval '3 days', 'signed-in', null, null, 'alice', '203.0.113.5', '[]'),
        (now(), 'sign-in-refused', 'network', 'K7Q2-M4XD', ${'alice\u001b[2J\r\n\u202e'}, '203.0.113.5',
          '[{"step": "account", "outcome": "found: alice"}, {"step": "networks of acme", "outcome": "do not admit 203.0.113.5"}]')`;
  });

  test('list what happened, by event and time, without terminal escapes (LG-03)', async () => {
    const all = (await vestibule('audit')).out;
    expect(all.split('\n')).toHaveLength(4);
    expect(all).toContain('alice\\u001b[2J\\u000d\\u000a\\u202e');
    expect(JSON.parse((await vestibule('audit --json')).out)[0].username).toBe('alice\u001b[2J\r\n\u202e');
    expect((await vestibule('audit --since 2d')).out).not.toContain('signed-in');
    expect((await vestibule('audit --event signed-in')).out).not.toContain('refused');
    expect((await vestibule('audit --user ALICE')).out).toContain('signed-in');
    expect((await vestibule('audit --limit 1 --json')).out).not.toContain('signed-in');
    expect((await vestibule('audit --event nonsense')).code).toBe(1);
  });

  test('explain shows the chain of decisions behind a reference, however it is typed', async () => {
    const { code, out } = await vestibule('explain k7q2m4xd');
    expect(code).toBe(0);
    expect(out).toMatch(/Reason +The password was right, but none of the customers admits the address\./);
    expect(out).toMatch(/1\. account +found: alice\n.*2\. networks of acme +do not admit 203\.0\.113\.5/);
    expect((await vestibule('explain K7Q2-M4XE')).code).toBe(1);
    await sql`
      insert into audit_event (at, event, reason, reference) values
        (now(), 'password-change-refused', '11', 'K7Q2-M4XF')`;
    const ofChange = (await vestibule('explain K7Q2-M4XF')).out;
    expect(ofChange).toMatch(/Reason +11: The password is one of the last ten\./);
    expect((await vestibule('explain nonsense!')).code).toBe(1);
  });

  test('explain finds what a request left whose page showed the beginning of its id, or says where to look', async () => {
    await sql`
      insert into audit_event (at, event, request_id, steps) values
        (now(), 'request-refused', '3f2a91c0-8d5e-4b7a-9c1d-0a1b2c3d4e5f', '[{"step": "origin", "outcome": "elsewhere"}]'),
        (now(), 'request-refused', '3f2a91c1-8d5e-4b7a-9c1d-0a1b2c3d4e5f', '[{"step": "origin", "outcome": "another"}]')`;
    const { code, out } = await vestibule('explain 3F2A-91C0');
    expect([code, out.match(/1\. origin +(\S+)/)?.[1]]).toEqual([0, 'elsewhere']);
    expect(out).not.toContain('another');
    const unknown = await vestibule('explain 3f2a91cf');
    expect([unknown.code, unknown.err]).toEqual([1, expect.stringContaining('search the log for "reqId":"3f2a91cf')]);
    expect((await vestibule('explain K7Q2-M4XE')).err).not.toContain('reqId');
  });
});
