import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type DatabaseForTest, databaseForTest } from '#testing/database-for-test.ts';
import { ignoredParameters, type PgbouncerForTest, pgbouncerForTest } from '#testing/pgbouncer-for-test.ts';
import { openStorage } from '../open-storage.ts';
import { migrate } from './migrate.ts';
import { findPooler, isBehindPooler } from './pooler.ts';

const log = { info() {}, warn() {} };

let database: DatabaseForTest;
beforeAll(async () => {
  database = await databaseForTest();
});
afterAll(() => database.close());

async function behind<T>(settings: Record<string, string>, work: (pooler: PgbouncerForTest) => Promise<T>): Promise<T> {
  const pooler = await pgbouncerForTest(database, settings);
  try {
    return await work(pooler);
  } finally {
    await pooler.close();
  }
}

describe('PgBouncer', { timeout: 120_000 }, () => {
  test('is detected, with transaction mode, and PostgreSQL itself is not mistaken for one', async () => {
    expect(await isBehindPooler(database.sql)).toBe(false);
    expect(await findPooler(database.sql, database.place)).toMatchObject({ pooler: 'none', statementTimeout: 5000 });
    for (const [pool_mode, pooler] of [
      ['transaction', 'transaction'],
      ['session', 'unknown'],
    ] as const)
      await behind({ ...ignoredParameters, pool_mode }, async ({ sql, url }) =>
        expect(await findPooler(sql, { url })).toMatchObject({ pooler, statementTimeout: 0 }),
      );
  });

  test('that refuses our settings is reported in a sentence that says what to set', async () => {
    await behind({}, async ({ url }) => {
      await expect(openStorage({ databaseUrl: url, dataFolder: '' }, log)).rejects.toThrow(
        /^The pooler refuses \w+: set ignore_startup_parameters = statement_timeout,plan_cache_mode/,
      );
    });
  });

  test('never sees a prepared statement of ours, and keeps no session state', async () => {
    await behind(ignoredParameters, async ({ url }) => {
      const storage = await openStorage({ databaseUrl: url, dataFolder: '' }, log);
      expect(storage.sql.options.prepare).toBe(false);
      await Promise.all(Array.from({ length: 20 }, (_, at) => storage.sql`select ${at}::int, pg_sleep(0.01)`));
      await storage.sql`drop schema public cascade`;
      await storage.sql`create schema public`;
      const pools = await Promise.all(
        Array.from({ length: 3 }, () => openStorage({ databaseUrl: url, dataFolder: '' }, log)),
      );
      const applied = await Promise.all(pools.map(({ sql }) => migrate(sql)));
      expect(new Set(applied.flat()).size).toBe(applied.flat().length);
      expect(applied.flat()).toContain('0001-initial.sql');
      await Promise.all(pools.map((pool) => pool.close()));
      const held = await storage.sql`select from pg_locks where locktype = 'advisory' and database = (
        select oid from pg_database where datname = current_database())`;
      expect(held).toHaveLength(0);
      await storage.close();
    });
  });
});

test('no statement relies on the previous session, except in the built-in PostgreSQL', async () => {
  const ofSession =
    /pg_(?:try_)?advisory_(?:un)?lock|\.(?:reserve|listen|notify|cursor)\(|temp(?:orary)? table|`\s*(?:re)?set (?!local)|, false\)`/i;
  const server = join(import.meta.dirname, '..');
  const files = (await readdir(server, { recursive: true })).filter(
    (file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !/^embedded\//.test(file),
  );
  expect(files).toContain('storage/migrate.ts');
  const found = [];
  for (const file of files) {
    // Node's servers listen too.
    const text = (await readFile(join(server, file), 'utf8')).replaceAll('app.listen(', '');
    if (ofSession.test(text)) found.push(file);
  }
  expect(found).toEqual([]);
});
