import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { defaultPasswordPolicy } from '#contract/password-rules.ts';
import { addCustomer } from '#server/accounts/customers.ts';
import { addUser } from '#server/accounts/users.ts';
import { connect } from '#server/database/connect.ts';
import type { Database } from '#server/database/database.ts';
import { type EmbeddedPostgres, openEmbedded } from '#server/database/embedded/embedded.ts';
import { migrate } from '#server/database/migrate.ts';
import { newPasswordProblem } from '#server/sign-in/new-password.ts';
import { quickFolder } from '#test/support/quick-folder.ts';
import { runVestibule } from '#test/support/run-vestibule.ts';

const rules = { policy: defaultPasswordPolicy, names: ['maria.lopez', 'Acme Instruments'] };

describe('problems of a new password', () => {
  test.each([
    ['aaAA11', 'at least 7 characters'],
    ['Ab1!'.repeat(19), 'at most 72 characters'],
    ['my-Password-77', 'contains a common password'],
    ['gggggggg', 'too weak'],
    ['Trout\tlantern-8', 'control characters'],
    ['Trout\ufffdlantern-8', 'invalid Unicode'],
    ['1Qaz2Wsx3Edc', 'on the list of common passwords'],
    ['MariaLopez2026!', 'just a name'],
  ])('%j is explained', (password, words) => {
    const problems = newPasswordProblem(password, password, rules)?.words ?? [];
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(words);
  });

  test('all problems are listed at once', () => {
    expect(newPasswordProblem('trustno1', 'x', rules)?.words).toEqual([
      expect.stringContaining('too weak'),
      expect.stringContaining('differ'),
      expect.stringContaining('list of common passwords'),
    ]);
  });
});

describe('a password on the command line', () => {
  let dataFolder: string;
  let embedded: EmbeddedPostgres;
  let sql: Database;

  beforeAll(async () => {
    dataFolder = await mkdtemp(join(quickFolder, 'vestibule-new-password-'));
    embedded = await openEmbedded({ dataFolder, log: { info() {}, warn() {} }, durable: false });
    sql = connect(embedded.place);
    await migrate(sql);
    const acme = { key: 'acme', name: 'Acme Instruments', allowedNetworks: [], twoFactor: 'off' as const };
    await addCustomer(sql, acme, new Date());
    await addCustomer(sql, { ...acme, key: 'beta', name: 'Beta Works' }, new Date());
    const alice = { username: 'alice', email: 'ally@acme.example', passwordHash: null, active: true };
    await addUser(sql, { ...alice, mayChangePassword: true, language: null, customers: ['acme'] }, new Date());
  });
  afterAll(async () => {
    await sql.end();
    await embedded.close();
    await rm(dataFolder, { recursive: true });
  });

  const vestibule = (line: string, input: string) =>
    runVestibule(line.split(' '), { env: { VESTIBULE_DATA: dataFolder, VESTIBULE_CONFIG: '' }, input });
  const users = () => sql`select username, password_hash from portal_user order by username`;

  test.each([
    ['user add maria.lopez --email m@acme.example --password-stdin', 'MariaLopez2026!', 'just a name'],
    ['user add maria --email maria.lopez@acme.example --password-stdin', 'maria-lopez-26', 'just a name'],
    ['user add maria --email m@a.example --customer acme --password-stdin', 'AcmeInstruments1', 'just a name'],
    ['user add maria --email m@a.example --password-stdin', '2026-Vestibule', 'just a name'],
    ['user add maria --email m@a.example --password-stdin', '1Qaz2Wsx3Edc', 'common passwords'],
    ['user set ally@acme.example --password-stdin', '!!ALICE-2026', 'just a name'],
    ['user set alice --password-stdin', 'ally2026---', 'just a name'],
    ['user set alice --password-stdin', 'AcmeInstruments1', 'just a name'],
    ['user set alice --rename Alicia --password-stdin', 'Alicia-2026!', 'just a name'],
    ['user set alice --email other@a.example --password-stdin', 'Other-20260', 'just a name'],
    ['user set alice --add-customer beta --password-stdin', 'BetaWorks26', 'just a name'],
    ['user set nobody --password-stdin', '12345', 'There is no user nobody.'],
  ])('PW-05 %s refuses %s and changes nothing', async (line, password, words) => {
    const { code, out, err } = await vestibule(line, password);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain(words);
    expect(err).not.toContain(password);
    expect(await users()).toEqual([{ username: 'alice', password_hash: null }]);
  });

  test('may be the name of somebody else, or a former one', async () => {
    const { out } = await vestibule(
      'user set alice --rename alicia --customer beta --password-stdin',
      'AcmeInstruments1',
    );
    expect(out).toContain('password: set');
    expect(await vestibule('user set alicia --password-stdin', 'Alice-20260')).toMatchObject({ code: 0, err: '' });
  });
});
