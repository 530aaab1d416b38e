import { escapeIdentifier, type QueryResult } from 'pg';

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
  /** The same database, where each statement and transaction begins with these. They are ours, and hold no stranger's text. */
  within(first: string): Database;
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

// biome-ignore lint/suspicious/noExplicitAny: whoever wants the types of columns names them.
export type Row = Record<string, any>;

/** What may stand in a statement: a value, which becomes a parameter, or a part of the statement. JSON comes as text. */
// biome-ignore lint/suspicious/noExplicitAny: of a part it does not matter what it would find.
export type Value = string | number | bigint | boolean | Date | Uint8Array | null | readonly Value[] | Statement<any>;

/** For `pg`; a text without values may be several statements. */
export type Query = { text: string; values?: unknown[] };
type Run = (query: Query) => Promise<QueryResult>;

/** A statement as the code has it. It runs when it is awaited; in another one it becomes a part of that. */
export class Statement<T extends readonly object[] = Row[]> {
  readonly #texts: readonly string[];
  readonly #values: readonly Value[] | undefined;
  readonly #run: Run;
  constructor(run: Run, texts: readonly string[], values?: readonly Value[]) {
    this.#texts = texts;
    this.#values = values;
    this.#run = run;
  }

  // biome-ignore lint/suspicious/noThenProperty: this is what runs it.
  then: Promise<T & { count: number }>['then'] = (done, failed) => this.#rows().then(done, failed);
  catch: Promise<T & { count: number }>['catch'] = (failed) => this.#rows().catch(failed);

  async #rows(): Promise<T & { count: number }> {
    const query = { text: '', values: [] };
    this.#writeTo(query);
    const { rows, rowCount } = await this.#run(this.#values ? query : { text: query.text });
    return Object.defineProperty(rows, 'count', { value: rowCount }) as never;
  }

  #writeTo(query: Required<Query>): void {
    for (const [at, text] of this.#texts.entries()) {
      query.text += text;
      if (at === (this.#values?.length ?? 0)) return;
      const value = this.#values?.[at];
      if (value instanceof Statement) value.#writeTo(query);
      else if (value !== undefined) query.text += `$${query.values.push(value)}`;
      else throw new Error(`undefined is no value: ${query.text}`);
    }
  }
}

type Sql = {
  <T extends readonly object[] = Row[]>(texts: TemplateStringsArray, ...values: Value[]): Statement<T>;
  /** The name of a table or column, as a part of a statement. */
  (name: string): Statement;
  /** A text of our own as it is: a part of a statement, or several statements. */
  unsafe<T extends readonly object[] = Row[]>(text: string): Statement<T>;
};

export function sqlOf(run: Run): Sql {
  const sql = (first: TemplateStringsArray | string, ...values: Value[]) =>
    typeof first === 'string' ? new Statement(run, [escapeIdentifier(first)]) : new Statement(run, first, values);
  return Object.assign(sql, { unsafe: (text: string) => new Statement(run, [text]) }) as Sql;
}

/** The row that a query finds, or null. */
export async function rowOrNull<T>(query: PromiseLike<readonly T[]>): Promise<T | null> {
  const [row] = await query;
  return row ?? null;
}
