import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { restoreBackup, writeBackup } from '#server/database/backup.ts';
import type { Database } from '#server/database/database.ts';
import { addAttackFixtures } from '#test/support/accounts-for-test.ts';
import { databaseForTest } from '#test/support/database-for-test.ts';
import { cookiesOf, testPassword } from '#test/support/portal-for-test.ts';
import { portalOfFile } from '#test/support/portal-of-file.ts';
import { quickFolder } from '#test/support/quick-folder.ts';
import { askForLink, changedPage, changeTo, newPassword } from '#test/support/reset-for-test.ts';
import { portalProcess, runVestibule } from '#test/support/run-vestibule.ts';
import { giveApp, giveRecoveryCodes, signInWithApp } from '#test/support/two-factor-for-test.ts';

const portal = portalOfFile({ once: addAttackFixtures });
const folder = await mkdtemp(join(quickFolder, 'vestibule-backup-'));
const file = join(folder, 'backup');

/** Every row, as text, by its table. */
async function rowsOf(sql: Database): Promise<Map<string, string>> {
  const tables = await sql`select tablename as name from pg_tables where schemaname = 'public' order by 1`;
  const rows = new Map<string, string>();
  for (const { name } of tables) {
    const [all] = await sql`select json_agg(t order by t::text) as rows from ${sql(name)} t`;
    if (all?.rows) rows.set(name, JSON.stringify(all.rows));
  }
  return rows;
}

it('RL-11 a backup has every row, used codes too, and its restore ends sessions, links and work', async () => {
  await giveRecoveryCodes(portal, 'alice');
  await signInWithApp(portal, 'alice', await giveApp(portal, 'alice'));
  await portal.signIn('alice', 'wrong');
  await portal.sql`
    insert into audit_event (at, event, username) select now(), 'signed-in', E'a\u2028b' from generate_series(1, 1200)`;
  await writeBackup(portal.sql, file);
  const other = await databaseForTest();
  await restoreBackup(other.sql, file);
  await restoreBackup(other.sql, file);
  const [here, there] = await Promise.all([rowsOf(portal.sql), rowsOf(other.sql)]);
  expect([...here.keys()]).toEqual(expect.arrayContaining(['session', 'totp', 'throttle', 'login_name']));
  for (const ended of ['session', 'job', 'reset_link']) {
    expect(there.get(ended)).toBeUndefined();
    here.delete(ended);
  }
  expect(there).toEqual(here);
  const [added] = await other.sql`insert into audit_event (at, event) values (now(), 'signed-in') returning id`;
  const [last] = await portal.sql`select max(id) as id from audit_event`;
  expect(added?.id).toBe(last?.id + 1);
  await other.close();
});

it('what the page has an operator run after an old backup ends sessions, links and waiting emails', async () => {
  const cookies = cookiesOf(await portal.signIn('bob', testPassword));
  const link = await askForLink(portal, 'bob');
  const page = await readFile(new URL('../docs/operating.md', import.meta.url), 'utf8');
  await portal.sql.unsafe(/psql "\$DATABASE_URL" -c '([^']+)'/.exec(page)?.[1] ?? '');
  expect((await portal.send({ url: '/portal/session', cookies })).statusCode).toBe(401);
  expect((await changeTo(portal, link, newPassword)).headers.location).not.toBe(changedPage);
  expect(await portal.sql`select from job`).toHaveLength(0);
});

it('the built-in database is backed up beside its server, and people sign in after the restore elsewhere', async () => {
  const one = { VESTIBULE_DATA: join(folder, 'one'), VESTIBULE_SECRET: '' };
  const two = { ...one, VESTIBULE_DATA: join(folder, 'two') };
  const run = async (env: Record<string, string>, line: string, input = '') =>
    await runVestibule(line.split(' '), { env, input });
  await run(one, 'customer add acme');
  await run(one, 'user add ada --email ada@acme.test --customer acme --password-stdin', testPassword);
  const first = await portalProcess('', { env: one });
  const post = {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams({ username: 'ada', password: testPassword }),
  } as const;
  const signedIn = await fetch(`${first.origin}/portal/performlogin`, post);
  const cookie = signedIn.headers
    .getSetCookie()
    .map((set) => set.split(';')[0])
    .join('; ');
  const backup = join(folder, 'built-in');
  expect(await run(one, `backup ${backup}`)).toMatchObject({ code: 0, out: expect.stringContaining('/one/secret') });
  expect(await run(one, `backup ${backup}`)).toMatchObject({
    code: 1,
    err: expect.stringContaining('the file exists already'),
  });
  expect(await run(one, `restore ${backup}`)).toMatchObject({ code: 1, err: expect.stringContaining('has 1 users') });
  expect((await run(two, `restore ${backup} --yes`)).code).toBe(0);
  await cp(join(folder, 'one/secret'), join(folder, 'two/secret'));
  const second = await portalProcess('', { env: two });
  expect((await fetch(`${first.origin}/portal/session`, { headers: { cookie } })).status).toBe(200);
  expect((await fetch(`${second.origin}/portal/session`, { headers: { cookie } })).status).toBe(401);
  expect((await fetch(`${second.origin}/portal/performlogin`, post)).headers.get('location')).toBe(
    '/portal/portal.html',
  );
  await Promise.all([first.end(), second.end()]);

  const whole = await readFile(backup);
  for (const [bytes, words] of [
    [whole.subarray(0, 300), 'the backup is cut off; nothing was changed'],
    [whole.subarray(0, whole.length - 9), 'the backup is cut off; nothing was changed'],
    [Buffer.from('none'), 'it is no backup'],
    [gzipSync('none\n'), 'no backup of this version'],
  ] as const) {
    await writeFile(join(folder, 'broken'), bytes);
    expect((await run(two, `restore ${join(folder, 'broken')} --yes`)).err).toContain(words);
  }
  expect((await run(two, 'user list')).out).toContain('ada@acme.test');
  expect((await run(two, 'audit')).out).toMatch(/backup-restored/);
  const external = { DATABASE_URL: 'postgres://127.0.0.1/none', VESTIBULE_SECRET: 'x'.repeat(40) };
  expect((await run(external, `backup ${backup}`)).err).toContain('use pg_dump');
  await rm(folder, { recursive: true });
}, 120_000);
