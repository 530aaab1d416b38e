import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { importBatch } from '#server/accounts/import-users.ts';
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
const count = async (table: string) => (await commands.sql`select count(*) from ${commands.sql(table)}`)[0]?.count;

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

  it('writes refused lines to a file for its owner alone, to be corrected and imported, and JSON for scripts', async () => {
    const refused = join(commands.folder, 'refused.jsonl');
    const imports = async (path: string) => {
      const { code, out } = await vestibule(`user import ${path} --customer acme --refused ${refused} --json`);
      return { code, ...JSON.parse(out) };
    };
    const path = await file('users.jsonl', `nonsense\n${line(1)}\n${line(2, { active: 'perhaps' })}\n`);
    expect(await imports(path)).toEqual({ code: 1, added: 1, unchanged: 0, refused: 2, dryRun: false });
    const rest = await readFile(refused, 'utf8');
    expect(rest).toBe(`nonsense\n${line(2, { active: 'perhaps', refused: 'active: must be true or false' })}\n`);
    expect((await stat(refused)).mode & 0o777).toBe(0o600);
    const corrected = await file('corrected.jsonl', rest.replace('nonsense', line(3)).replace('perhaps', 'no'));
    expect(await imports(corrected)).toEqual({ code: 0, added: 2, unchanged: 0, refused: 0, dryRun: false });
  });

  const head = 'email,username,customers,language,active';
  const row = 'dana@acme.test,dana,acme,de,true';

  it.each<[string, string | Buffer]>([
    ['commas', `\ufeff${head}\r\n${row}\r\n`],
    ['semicolons', `${head}\r\n${row}\r\n`.replaceAll(',', ';')],
    ['tabs in UTF-16', Buffer.from(`\ufeff${head}\r\n${row}\r\n`.replaceAll(',', '\t'), 'utf16le')],
    ["Excel's first line", `sep=;\r\n${head}\r\n${row}\r\n`.replaceAll(',', ';')],
    ['names in other letters', `Email, Username, Customer,LANGUAGE,active\n${row.replaceAll(',', ', ')}\n`],
    ['empty rows', `${head}\r\n\r\n,,,,\r\n${row}\r\n\r\n`],
    ['blanks before quotes', `${head}\n"dana@acme.test", "dana", "acme", "de", "true"\n`],
    ['absent values', `${head},passwordHash,createdAt\n${row},NULL,\\N\n`],
  ])('reads CSV with %s', async (_what, csv) => {
    const result = await vestibule(`user import ${await file('users.csv', csv)}`);
    expect(result).toEqual({ code: 0, out: 'Users added: 1; unchanged: 0; refused lines: 0.\n', err: '' });
    expect(
      await commands.sql`
      select username, email, language, password_hash as hash, key
      from portal_user u join membership m on m.user_id = u.id join customer c on c.id = m.customer_id`,
    ).toEqual([{ username: 'dana', email: 'dana@acme.test', language: 'de', hash: null, key: 'acme' }]);
  });

  it.each<[string, string, string | Buffer]>([
    ['a quote in the first line', 'line 1: is not valid CSV: a quote is', `email,user "name"\n${row}\n`],
    ['an unknown column', 'line 1: has the unknown field: "emial"; known are email, username,', `emial,name\n${row}\n`],
    ['a column twice', 'line 1: names a field twice: "customers"', `email,customer,Customers\n${row}\n`],
    [
      'another encoding',
      'is not UTF-8: save it as UTF-8 (Excel: CSV UTF-8)',
      Buffer.from(`${head}\nm\u00fcller`, 'latin1'),
    ],
  ])('refuses CSV with %s at once', async (_what, words, csv) => {
    const { code, err } = await vestibule(`user import ${await file('users.csv', csv)}`);
    expect([code, err]).toEqual([1, expect.stringContaining(words)]);
    expect(err.trim().split('\n')).toHaveLength(1);
    expect(await count('portal_user')).toBe(0);
  });

  it('refuses wrong rows of CSV, adds the others, and writes CSV that can be corrected', async () => {
    const csv = [
      'username;email;customers;active;passwordHash',
      `anna;anna@acme.test;"acme;beta";true;"${hashesByOthers['bcrypt 2b by passlib']}"`,
      'lee;lee@acme.test;John "JJ" Smith;true;',
      'too;many;cells;true;;;',
      '"carl";carl@acme.test;acme;"perhaps; ""no""";',
      "bert;b.o'neil@acme.test;acme;false;",
      '"dora;dora@acme.test;;;',
      'eve;eve@acme.test;;;',
    ];
    const refused = join(commands.folder, 'refused.csv');
    const result = await vestibule(`user import - --format csv --refused ${refused}`, csv.join('\r\n'));
    expect(result.err).toMatch(/^line 3: is not valid.*\nline 4: has a.*\nline 5: active.*\nline 7: is not valid.*\n$/);
    expect(result).toMatchObject({
      ...{ code: 1, out: `Users added: 2; unchanged: 0; refused lines: 4, see ${refused}.\n` },
    });
    const people = [{ username: 'anna' }, { username: 'bert' }];
    expect(await commands.sql`select username from portal_user order by username`).toEqual(people);
    const rest = await readFile(refused, 'utf8');
    const why = [
      ';"is not valid CSV: a quote is missing or out of place"',
      ';"has another number of cells than the first line"',
    ];
    const notRead = ';"is not valid CSV: a quote is missing or out of place; nothing after it was read"';
    expect(rest.split('\n').slice(1)).toEqual([
      ...[`${csv[2]}${why[0]}`, `${csv[3]}${why[1]}`],
      '"carl";"carl@acme.test";"acme";"perhaps; ""no""";"";"active: must be true or false"',
      ...[`${csv[6]}${notRead}`, `${csv[7]}${notRead}`, ''],
    ]);
    const corrected = rest
      .replace('"perhaps; ""no"""', 'no')
      .replace('John "JJ" Smith', 'acme')
      .replace(/^too.*\n/m, '')
      .replace('"dora', 'dora');
    expect(await vestibule(`user import ${await file('rest.csv', corrected)}`)).toMatchObject({
      ...{ code: 0, out: 'Users added: 4; unchanged: 0; refused lines: 0.\n' },
    });
  });

  it.each([
    ['/nowhere/users.jsonl', 'cannot be read (ENOENT)'],
    ['FOLDER.csv', 'FOLDER.csv cannot be read (EISDIR)'],
    ['users.json', 'jq -c'],
    ['users.xlsx', '--format says so'],
    ['- --customer UPPER', '--customer: must be 1 to 63 lower-case letters'],
    ['- --refused /nowhere/x', '--refused: /nowhere/x cannot be written'],
  ])('refuses %s', async (args, problem) => {
    await mkdir(join(commands.folder, 'FOLDER.csv'), { recursive: true });
    const result = await vestibule(`user import ${args.replace('FOLDER', `${commands.folder}/FOLDER`)}`);
    expect(result).toEqual({ code: 1, out: '', err: expect.stringContaining(problem) });
  });

  it('killed half-way has added whole batches only, and the next run adds the rest once', async () => {
    const { sql, env } = commands;
    const total = 20_000;
    const path = await file('many.jsonl', Array.from({ length: total }, (_, n) => `${line(n)}\n`).join(''));
    const args = [join(import.meta.dirname, 'vestibule.ts'), 'user', 'import', path];
    const child = spawn(process.execPath, args, { env: { PATH: '/usr/bin:/bin', ...env }, stdio: 'ignore' });
    const ended = once(child, 'close');
    while ((await count('portal_user')) === 0) await setTimeout(5);
    child.kill('SIGKILL');
    await ended;
    const unchanged = await count('portal_user');
    expect(unchanged).toBeLessThan(total);
    expect(unchanged % importBatch).toBe(0);
    const again = JSON.parse((await vestibule(`user import ${path} --json`)).out);
    expect(again).toMatchObject({ added: total - unchanged, unchanged, refused: 0 });
    for (const table of ['portal_user', 'audit_event']) expect(await count(table)).toBe(total);
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
