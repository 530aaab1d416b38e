import { afterAll, beforeAll, expect, it } from 'vitest';
import { type DatabaseForTest, databaseForTest } from '#test/support/database-for-test.ts';
import { connect } from './connect.ts';
import type { Connection } from './database.ts';
import { patientRead } from './large-tables.ts';

let database: DatabaseForTest;
beforeAll(async () => {
  database = await databaseForTest();
});
afterAll(() => database.close());

it('a patient read takes longer than other statements may and is planned for its values; they stay as they were', async () => {
  const sql = connect(database.place, { poolSize: 1, statementTimeout: 500 });
  const slow = async (sql: Connection) => await sql`select pg_sleep(0.8), current_setting('plan_cache_mode') as mode`;
  expect(await patientRead(sql, slow)).toMatchObject([{ mode: 'force_custom_plan' }]);
  await expect(slow(sql)).rejects.toMatchObject({ code: '57014' });
  expect(await sql`show plan_cache_mode`).toEqual([{ plan_cache_mode: 'force_generic_plan' }]);
  await sql.end();
});
