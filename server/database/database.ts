import type { Sql, Statement } from './sql.ts';

/** The location of a database: the address of a server, or the socket of the built-in one. */
export type Place = { url: string } | { path: string; database: string; user: string; password: string };

/** The first parameter of storage functions: the pool, or one of its transactions. */
export type Connection = Sql;

/** Part of a statement. */
export type Fragment = Statement;

/** A pool of connections, on which transactions are begun. */
export type Database = Connection & {
  /**
   * Runs `work` in a transaction and returns its result. The transaction is committed, unless the result is a RollBack: then
   * it is rolled back, and its result is returned. Errors roll back and are thrown on. `statementTimeout`, in milliseconds, is
   * for statements that may take longer than others; 0 for none.
   */
  begin<T, R = never>(
    work: (sql: Connection) => Promise<T | RollBack<R>>,
    options?: { statementTimeout?: number },
  ): Promise<T | R>;
  /** Closes the connections once what is under way is done. */
  end(): Promise<void>;
};

/** A result whose transaction must leave no trace, such as a refusal found halfway. */
export class RollBack<R> {
  readonly result: R;
  constructor(result: R) {
    this.result = result;
  }
}
