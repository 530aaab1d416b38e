import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type DatabaseForTest, databaseForTest } from '#test/support/database-for-test.ts';
import { type Connection, RollBack } from './database.ts';

let database: DatabaseForTest;

beforeAll(async () => {
  database = await databaseForTest();
  await database.sql`create table fruit (name text)`;
});
beforeEach(async () => {
  await database.sql`truncate fruit`;
});
afterAll(() => database.close());

const add = (sql: Connection) => sql`insert into fruit values ('pear')`;
const stored = async () => (await database.sql`select from fruit`).length;

describe('a transaction', () => {
  it('is committed with its result', async () => {
    const result = await database.sql.begin(async (sql) => {
      await add(sql);
      return { kind: 'added' };
    });
    expect(result).toEqual({ kind: 'added' });
    expect(await stored()).toBe(1);
  });

  it('is rolled back with a result too', async () => {
    const result = await database.sql.begin(async (sql) => {
      await add(sql);
      return new RollBack({ kind: 'refused' });
    });
    expect(result).toEqual({ kind: 'refused' });
    expect(await stored()).toBe(0);
  });

  it('is rolled back by an error, which is thrown on', async () => {
    const work = database.sql.begin(async (sql) => {
      await add(sql);
      throw new Error('broken');
    });
    await expect(work).rejects.toThrow('broken');
    expect(await stored()).toBe(0);
  });

  it('is an error if one of its statements failed, even if nobody minded', async () => {
    const work = database.sql.begin(async (sql) => {
      await add(sql);
      await sql`select 1 / 0`.catch(() => null);
    });
    await expect(work).rejects.toThrow('nothing of it is stored');
    expect(await stored()).toBe(0);
  });

  it('sends at the same time what is asked for at the same time', async () => {
    const rows = await database.sql.begin((sql) =>
      Promise.all([1, 2, 3].map(async (n) => (await sql`select ${n}::int as n, pg_backend_pid() as pid`)[0])),
    );
    expect(rows.map((row) => row?.n)).toEqual([1, 2, 3]);
    expect(new Set(rows.map((row) => row?.pid)).size).toBe(1);
  });
});
