import postgres from 'postgres';
import type { Connection, Database } from './database.ts';

// Where PostgreSQL says that a prepared statement is gone (26000), or that what it returns has changed (0A000).
const lostRoutines = new Set(['FetchPreparedStatement', 'RevalidateCachedQuery']);
// Where it says that a value does not fit its column (42804): of a prepared statement, that the column has changed.
const misfitRoutine = 'transformAssignedExpr';
const routines = new WeakMap<object, string>();

// postgres.js answers these errors itself, by sending the values that it has encoded already: bytes and JSON are encoded
// twice, true becomes false, and a statement that is sent meanwhile gets the answer of this one. It knows them by this
// property, so it does not find it: docs/decisions/0020.
Object.defineProperty(postgres.PostgresError.prototype, 'routine', {
  get: () => undefined,
  set(this: object, routine: string) {
    routines.set(this, routine);
  },
});

/** What is used of a query of postgres.js beyond its types. */
type Query = {
  prepared?: boolean;
  parameters: unknown;
  options: { prepare?: boolean; onexecute?: (connection: unknown) => unknown };
  handler: (query: Query) => void;
  reject: (error: unknown) => void;
};

/**
 * A pool on which a lost prepared statement, which has not run, is sent once more from the values as they were given.
 * One that is lost in a transaction fails it, as the database being away. Either way the pool prepares no more, since
 * its connections still count on statements that are gone; `onLost` is called once.
 */
export function withFreshStatements(sql: Database, onLost: () => void): Database {
  const begin = sql.begin.bind(sql) as (work: (sql: Connection) => Promise<unknown>) => Promise<unknown>;
  sql.begin = ((work: (sql: Connection) => Promise<unknown>) =>
    begin(work).catch((error: unknown) => {
      if (mayBeLost(error)) stopPreparing();
      throw error;
    })) as typeof sql.begin;

  function stopPreparing(): void {
    if (!sql.options.prepare) return;
    sql.options.prepare = false;
    onLost();
  }

  function sendAgainWhenLost(query: Query): void {
    const { reject } = query;
    query.reject = (error) => {
      if (!query.prepared || !mayBeLost(error)) return reject(error);
      stopPreparing();
      query.options.prepare = false;
      query.parameters = undefined;
      // postgres.js is still at the answer that says so.
      queueMicrotask(() => query.handler(query));
    };
  }

  function guarded<T>(made: T): T {
    if (!(made instanceof Promise)) return made;
    const query = made as unknown as Query;
    query.options.onexecute ??= oneAtATime;
    sendAgainWhenLost(query);
    return made;
  }

  const unsafe = sql.unsafe as (...args: unknown[]) => unknown;
  sql.unsafe = ((...args: unknown[]) => guarded(unsafe(...args))) as typeof sql.unsafe;
  return new Proxy(sql, { apply: (target, self, args) => guarded(Reflect.apply(target, self, args)) });
}

/**
 * What postgres.js asks whether the connection takes another statement before the answer to this one. When all are busy
 * it would: a pooler in transaction mode then loses the second, and whoever is behind a slow one waits for it.
 */
function oneAtATime(): boolean {
  return false;
}

/** Whether an error says that a prepared statement is gone or outdated. */
export function isStatementLost(error: unknown): boolean {
  return lostRoutines.has(routineOf(error));
}

function mayBeLost(error: unknown): boolean {
  return isStatementLost(error) || routineOf(error) === misfitRoutine;
}

function routineOf(error: unknown): string {
  return (typeof error === 'object' && error !== null && routines.get(error)) || '';
}
