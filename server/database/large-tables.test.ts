import { afterAll, beforeAll, expect, it } from 'vitest';
import { type DatabaseForTest, databaseForTest } from '#test/support/database-for-test.ts';
import { connect } from './connect.ts';
import type { Connection } from './database.ts';
import { deletedAtOnce, deleteInParts, patientRead } from './large-tables.ts';
import { migrate } from './migrate.ts';

const now = new Date('2026-03-01T10:00:00Z');

let database: DatabaseForTest;
beforeAll(async () => {
  database = await databaseForTest();
  await migrate(database.sql);
});
afterAll(() => database.close());

it('deletes more than one statement may, and nothing else', async () => {
  const { sql } = database;
  const old = deletedAtOnce * 2 + 1;
  const deleteOld = () => deleteInParts(sql, 'passkey_challenge', sql`ends_at <= ${now}`);
  const insert = async (sql: Connection) =>
    await sql`
      insert into passkey_challenge (challenge_hash, owner_hash, ends_at)
      select sha256(n::text::bytea), sha256('owner'), ${now}::timestamptz + (n - ${old}::int) * interval '1 ms'
      from generate_series(1, ${old + 5}::int) n`;
  await sql.begin(insert, { statementTimeout: 0 });
  const [locked] = await sql<{ hash: Buffer }[]>`
    select challenge_hash as hash from passkey_challenge order by ends_at limit 1`;
  await sql.begin(async (other) => {
    await other`select from passkey_challenge where challenge_hash = ${locked?.hash as Buffer} for update`;
    expect(await deleteOld()).toBe(old - 1);
  });
  expect(await deleteOld()).toBe(1);
  expect(await sql`select from passkey_challenge`).toHaveLength(5);
});

it('a patient read takes longer than other statements may and is planned for its values; they stay as they were', async () => {
  const sql = connect(database.place, { poolSize: 1, statementTimeout: 500 });
  const slow = async (sql: Connection) => await sql`select pg_sleep(0.8), current_setting('plan_cache_mode') as mode`;
  expect(await patientRead(sql, slow)).toMatchObject([{ mode: 'force_custom_plan' }]);
  await expect(slow(sql)).rejects.toMatchObject({ code: '57014' });
  expect(await sql`show plan_cache_mode`).toEqual([{ plan_cache_mode: 'force_generic_plan' }]);
  await sql.end();
});
