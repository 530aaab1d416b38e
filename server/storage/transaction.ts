import type { Connection, Database } from './database.ts';

/** A result whose transaction must leave no trace, such as a refusal found halfway. */
export class RollBack<R> {
  readonly result: R;
  constructor(result: R) {
    this.result = result;
  }
}

/**
 * Runs `work` in a transaction and returns its result. The transaction is committed, unless the result is a RollBack:
 * then it is rolled back, and its result is returned. Errors roll back and are rethrown.
 */
export async function transaction<T, R = never>(
  sql: Database,
  work: (sql: Connection) => Promise<T | RollBack<R>>,
): Promise<T | R> {
  let rolledBack: { error: Error; result: R } | undefined;
  try {
    return (await sql.begin(async (sql) => {
      const result = await work(sql);
      if (!(result instanceof RollBack)) return result;
      rolledBack = { error: new Error('rolled back'), result: result.result };
      throw rolledBack.error;
    })) as T;
  } catch (error) {
    if (rolledBack && error === rolledBack.error) return rolledBack.result;
    throw error;
  }
}
