import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type DatabaseForTest, databaseForTest } from '#testing/database-for-test.ts';
import type { Connection } from './database.ts';
import { RollBack, transaction } from './transaction.ts';

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
    const result = await transaction(database.sql, async (sql) => {
      await add(sql);
      return { kind: 'added' };
    });
    expect(result).toEqual({ kind: 'added' });
    expect(await stored()).toBe(1);
  });

  it('is rolled back with a result too', async () => {
    const result = await transaction(database.sql, async (sql) => {
      await add(sql);
      return new RollBack({ kind: 'refused' });
    });
    expect(result).toEqual({ kind: 'refused' });
    expect(await stored()).toBe(0);
  });

  it('is rolled back by an error, which is thrown on', async () => {
    const work = transaction(database.sql, async (sql) => {
      await add(sql);
      throw new Error('broken');
    });
    await expect(work).rejects.toThrow('broken');
    expect(await stored()).toBe(0);
  });
});
