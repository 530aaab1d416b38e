import { expect, it } from 'vitest';
import { databaseForTest } from '#test/support/database-for-test.ts';
import { connect } from './connect.ts';
import type { Connection } from './database.ts';
import { patientRead } from './patient-read.ts';

it('takes longer than other statements may, and leaves their limit as it was', async () => {
  const database = await databaseForTest();
  const sql = connect(database.place, { poolSize: 1, statementTimeout: 500 });
  const slow = async (sql: Connection) => await sql`select pg_sleep(0.8), 1 as one`;
  expect(await patientRead(sql, slow)).toMatchObject([{ one: 1 }]);
  await expect(slow(sql)).rejects.toMatchObject({ code: '57014' });
  await sql.end();
  await database.close();
});

it('is planned for its values, and other statements are not', async () => {
  const database = await databaseForTest();
  const sql = connect(database.place, { poolSize: 1 });
  const mode = async (sql: Connection) => await sql`show plan_cache_mode`;
  expect(await patientRead(sql, mode)).toEqual([{ plan_cache_mode: 'force_custom_plan' }]);
  expect(await mode(sql)).toEqual([{ plan_cache_mode: 'force_generic_plan' }]);
  await sql.end();
  await database.close();
});
