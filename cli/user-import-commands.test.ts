import { spawn } from 'node:child_process';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { addCustomerTo, commandsOfFile } from '#test/support/commands-of-file.ts';
import { hashesByOthers } from '#test/support/import-for-test.ts';

const commands = commandsOfFile({
  each: async (sql) => {
    for (const key of ['acme', 'beta']) await addCustomerTo(sql, key);
  },
});
const vestibule = (line: string, input?: string) => commands.vestibule(line, input);

async function file(name: string, text: string | Buffer): Promise<string> {
  const path = join(commands.folder, name);
  await writeFile(path, text);
  return path;
}

const line = (n: number, more: object = {}) => JSON.stringify({ username: `u${n}`, email: `u${n}@acme.test`, ...more });
const lines = (count: number) => Array.from({ length: count }, (_, n) => `${line(n)}\n`).join('');
const count = async () => (await commands.sql<{ count: number }[]>`select count(*) from portal_user`)[0]?.count ?? -1;

describe('vestibule user import', () => {
  it('adds the good lines of a file, lists the others and ends with 1', async () => {
    const path = await file('users.jsonl', `${line(1)}\nnonsense\n${line(2, { customers: ['gone'] })}\n`);
    expect(await vestibule(`user import ${path} --customer acme`)).toEqual({
      code: 1,
      out: 'Users added: 1; unchanged: 0; refused lines: 2.\n',
      err: 'line 2: is not valid JSON\nline 3: customers: there is no customer gone\n',
    });
    const members = await commands.sql`select c.key from membership m join customer c on c.id = m.customer_id`;
    expect(members).toEqual([{ key: 'acme' }]);
  });

  it('writes refused lines to a file for its owner alone, and JSON for scripts', async () => {
    const path = await file('users.jsonl', `nonsense\n${line(1)}\n`);
    const refused = join(commands.folder, 'refused.jsonl');
    const result = await vestibule(`user import ${path} --refused ${refused} --json`);
    expect([result.code, result.err]).toEqual([1, '']);
    expect(JSON.parse(result.out)).toEqual({ added: 1, unchanged: 0, refused: 1, dryRun: false });
    expect(await readFile(refused, 'utf8')).toBe('{"line":1,"field":"line","reason":"is not valid JSON"}\n');
    expect((await stat(refused)).mode & 0o777).toBe(0o600);
  });

  it('reads CSV by the names in its first line, and standard input', async () => {
    const csv = [
      '\ufeffusername,email,customers,name,groups,active,passwordHash',
      `anna,anna@acme.test,"acme beta",Anna Alm,acme:hr beta:Domain Users,true,"${hashesByOthers['bcrypt 2b by passlib']}"`,
      'bert,bert@acme.test,acme,,,false,',
      'too,many,cells,,,true,,,',
      'carl,carl@acme.test,,,,perhaps,',
      '"dora,dora@acme.test,,,,,',
      '',
    ].join('\r\n');
    const result = await vestibule('user import - --format csv', csv);
    expect(result.err).toMatch(/^line 4: has a.*\nline 5: activ.*\nline 6: is no.*\n$/);
    expect(result).toMatchObject({ code: 1, out: 'Users added: 2; unchanged: 0; refused lines: 3.\n' });
    expect(JSON.parse((await vestibule('user list --json')).out)).toMatchObject([
      { username: 'anna', active: true, hasPassword: true, name: 'Anna Alm', groups: ['acme:hr', 'beta:Domain Users'] },
      { username: 'bert', active: false, hasPassword: false, name: null, groups: [] },
    ]);
  });

  it('refuses lines of CSV that are not UTF-8', async () => {
    const csv = 'username,email\nm\u00fcller,mueller@acme.test\nanna,anna@acme.test\n';
    const path = await file('latin.csv', Buffer.from(csv, 'latin1'));
    expect(await vestibule(`user import ${path} --customer acme`)).toEqual({
      code: 1,
      out: 'Users added: 1; unchanged: 0; refused lines: 1.\n',
      err: 'line 2: is not UTF-8\n',
    });
  });

  it.each([
    ['/nowhere/users.jsonl', 'cannot be read (ENOENT)'],
    ['FOLDER.csv', 'FOLDER.csv cannot be read (EISDIR)'],
    ['users.json', 'jq -c'],
    ['users.txt', '--format says so'],
    ['- --customer UPPER', 'is not the key of a customer'],
    ['- --refused /nowhere/x', '--refused: /nowhere/x cannot be written'],
  ])('refuses %s', async (args, problem) => {
    await mkdir(join(commands.folder, 'FOLDER.csv'), { recursive: true });
    const result = await vestibule(`user import ${args.replace('FOLDER', `${commands.folder}/FOLDER`)}`);
    expect(result).toEqual({ code: 1, out: '', err: expect.stringContaining(problem) });
  });

  it('killed half-way has added whole batches only, and the next run adds the rest once', async () => {
    const { sql, env } = commands;
    const total = 20_000;
    const path = await file('many.jsonl', lines(total));
    const entry = join(import.meta.dirname, 'vestibule.ts');
    const child = spawn(process.execPath, [entry, 'user', 'import', path], {
      env: { PATH: '/usr/bin:/bin', ...env },
      stdio: 'ignore',
    });
    const ended = new Promise((resolve) => child.once('close', resolve));
    while ((await count()) === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    child.kill('SIGKILL');
    await ended;
    const added = await count();
    expect(added).toBeGreaterThan(0);
    expect(added).toBeLessThan(total);
    const again = await vestibule(`user import ${path} --json`);
    const outcome = JSON.parse(again.out) as { added: number; unchanged: number };
    expect(outcome.added + outcome.unchanged).toBe(total);
    expect(outcome.unchanged).toBeGreaterThanOrEqual(added);
    expect(await count()).toBe(total);
    expect((await sql`select count(*) from login_name`)[0]?.count).toBe(total * 2);
    expect((await sql`select count(*) from audit_event where event = 'user-imported'`)[0]?.count).toBe(total);
    // Deleting so many rows takes longer than a statement may.
    await sql`truncate portal_user, audit_event cascade`;
  }, 240_000);
});

describe('vestibule user export', () => {
  it('writes what user import reads: a round trip brings everything back', async () => {
    const hashes = Object.values(hashesByOthers);
    const people = hashes.map((passwordHash, n) =>
      line(n, {
        passwordHash,
        language: n % 2 ? 'de' : undefined,
        name: n % 2 ? 'Zoë, Dr.' : undefined,
        groups: n % 3 ? undefined : ['acme:hr', 'beta:a, b'],
        customers: n % 3 ? ['acme'] : ['acme', 'beta'],
        active: n % 4 > 0,
        mayChangePassword: n % 5 > 0,
        createdAt: `2020-01-${String(n + 1).padStart(2, '0')}T01:02:03.004Z`,
        formerPasswordHashes: n % 2 ? hashes.slice(0, n) : undefined,
        totpSecret: n % 3 ? 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ' : undefined,
        totpAlgorithm: n % 3 === 1 ? 'SHA256' : undefined,
      }),
    );
    expect((await vestibule('user import -', `${people.join('\n')}\n`)).code).toBe(0);
    const first = await vestibule('user export --secrets');
    expect(first).toMatchObject({ code: 0, err: expect.stringMatching(/^Warning: the export holds password hashes/) });
    const sorted = (text: string) => text.split('\n').sort();
    expect(sorted(first.out)).toHaveLength(hashes.length + 1);
    await commands.sql`delete from portal_user`;
    expect((await vestibule('user import -', first.out)).out).toContain(`Users added: ${hashes.length}`);
    expect(sorted((await vestibule('user export --secrets')).out)).toEqual(sorted(first.out));
    expect((await vestibule('user import -', first.out)).out).toContain(
      `unchanged: ${hashes.length}; refused lines: 0`,
    );
  });

  it('holds no secret unless asked', async () => {
    const passwordHash = hashesByOthers['argon2i by passlib'];
    const secret = { passwordHash, totpSecret: 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ' };
    await vestibule('user import - --customer acme', `${line(1, secret)}\n${line(2)}\n`);
    const { out, err, code } = await vestibule('user export');
    expect([code, err]).toEqual([0, '']);
    expect(out).not.toMatch(/argon2|GEZD|assword[^C"]/);
  });
});
