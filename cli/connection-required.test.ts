import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { addCustomer } from '#server/accounts/customers.ts';
import { type CuttableDatabase, cuttableDatabase } from '#test/support/cuttable-database.ts';
import { type DatabaseForTest, databaseForTest } from '#test/support/database-for-test.ts';
import { quickFolder } from '#test/support/quick-folder.ts';
import { emptyDatabase } from '#test/support/rows-for-test.ts';
import { runVestibule } from '#test/support/run-vestibule.ts';

let database: DatabaseForTest;
let wire: CuttableDatabase;
let folder: string;
beforeAll(async () => {
  database = await databaseForTest();
  wire = await cuttableDatabase(database);
  folder = await mkdtemp(join(quickFolder, 'vestibule-required-'));
});
afterAll(async () => {
  await wire.close();
  await database.close();
  await rm(folder, { recursive: true });
});

const env = () => ({
  DATABASE_URL: wire.url,
  VESTIBULE_SECRET: 'x'.repeat(43),
  VESTIBULE_DATA: folder,
  VESTIBULE_CONFIG: '',
});
const vestibule = (line: string) => runVestibule(line.split(' '), { env: env() });
const add = (key: string, more = '') =>
  vestibule(
    `connection add oidc ${key} --customer acme --domain acme.example --domain acme.test --issuer https://idp.acme.example --client-id a --private-key${more}`,
  );
const state = async () =>
  await database.sql`select key, active, required, array(select domain from sso_domain d where d.connection_id = s.id
    order by domain) as domains from sso_connection s order by key`;

beforeEach(async () => {
  await emptyDatabase(database);
  await addCustomer(database.sql, { key: 'acme', name: 'Acme', allowedNetworks: [], twoFactor: 'off' }, new Date());
  expect((await add('main', ' --required on')).code).toBe(0);
});

describe('OI-35 allowing passwords again or locking a domain out', () => {
  it.each([
    ['connection set main --disable', 'Then nobody in acme.example, acme.test can sign in:'],
    ['connection remove main', 'can sign in with it again'],
    ['customer remove acme', 'can sign in with it again'],
    ['connection set main --domain acme.test', 'no longer required for acme.example:'],
  ])('%s says what follows and changes nothing without --yes', async (line, words) => {
    const before = await state();
    const { code, err, out } = await vestibule(line);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain(words);
    expect(err).toContain('--yes');
    expect(await state()).toEqual(before);
    expect(await database.sql`select from audit_event where event ~ 'removed|changed'`).toHaveLength(0);
    expect((await vestibule(`${line} --yes`)).code).toBe(0);
    expect(await state()).not.toEqual(before);
  });

  it.each([
    'connection set main --required off',
    'connection set main --disable --required off',
    'connection set main --domain acme.example --domain acme.test --name Main',
  ])('%s asks nothing', async (line) => {
    expect(await vestibule(line)).toMatchObject({ code: 0, err: '' });
  });

  it('asks nothing if another connection keeps everything as it is', async () => {
    await add('other', ' --required on');
    expect((await vestibule('connection set main --disable')).code).toBe(0);
    expect((await vestibule('connection remove main')).code).toBe(0);
    expect((await vestibule('connection remove other')).code).toBe(1);
  });
});

describe('at a terminal', () => {
  const hasScript = process.platform === 'linux' && existsSync('/usr/bin/script');

  it.runIf(hasScript).each([
    ['yes\r', 0],
    ['y\r', 1],
    ['\u0003', 1],
  ])('the answer %j exits with %i', async (answer, code) => {
    const line = `${process.execPath} ${join(import.meta.dirname, 'vestibule.ts')} connection remove main`;
    const child = spawn('script', ['-qec', line, '/dev/null'], {
      env: { PATH: '/usr/bin:/bin', TERM: 'dumb', ...env() },
    });
    child.stdout.on('data', (chunk) => String(chunk).includes('Type yes: ') && child.stdin.write(answer));
    const ended = new Promise((resolve) => child.once('close', resolve));
    expect(await text(child.stdout)).toContain('can sign in with it again');
    expect(await ended).toBe(code);
    expect(await state()).toHaveLength(code);
  });
});
