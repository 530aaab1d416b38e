import postgres from 'postgres';
import type { Connection, Database } from './database.ts';

// PostgreSQL's codes for a prepared statement that is gone (26000) or whose result type changed (0A000).
const lostRoutines = new Set(['FetchPreparedStatement', 'RevalidateCachedQuery']);
// Its code for a value that does not fit its column (42804): for a prepared statement, that the column changed.
const misfitRoutine = 'transformAssignedExpr';
const routines = new WeakMap<object, string>();

// postgres.js handles these errors itself, by resending the encoded values: bytes and JSON are encoded twice, true
// becomes false, and a statement sent meanwhile gets this one's answer. It detects them by this property, so the
// property is hidden from it: docs/decisions/0020.
Object.defineProperty(postgres.PostgresError.prototype, 'routine', {
  get: () => undefined,
  set(this: object, routine: string) {
    routines.set(this, routine);
  },
});

/** Members of a postgres.js query that we use beyond its types. */
type Query = {
  /** Set when it is sent. */
  active: boolean;
  prepared?: boolean;
  parameters: unknown;
  options: { prepare?: boolean; onexecute?: (connection: unknown) => unknown };
  handler: (query: Query) => void;
  reject: (error: unknown) => void;
};

/**
 * A pool that resends a lost prepared statement, which has not run, once, from its original values. One lost in a
 * transaction fails it, as the database being down. Either way the pool stops preparing, since its connections still
 * rely on statements that are gone; `onLost` is called once. A statement or transaction that gets the error which ended an
 * earlier connection, before anything of it was sent, is sent on the new one.
 */
export function withFreshStatements(sql: Database, onLost: () => void): Database {
  const begin = sql.begin.bind(sql) as (work: (sql: Connection) => Promise<unknown>) => Promise<unknown>;
  sql.begin = (async (work: (sql: Connection) => Promise<unknown>) => {
    for (let again = 0; ; again += 1) {
      let hasBegun = false;
      try {
        return await begin((connection) => {
          hasBegun = true;
          return work(connection);
        });
      } catch (error) {
        if (!hasBegun && hasEndedConnection(error) && again < sql.options.max) continue;
        if (mayBeLost(error)) stopPreparing();
        throw error;
      }
    }
  }) as typeof sql.begin;

  function stopPreparing(): void {
    if (!sql.options.prepare) return;
    sql.options.prepare = false;
    onLost();
  }

  function sendAgainWhenLost(query: Query): void {
    const { reject } = query;
    let isRejected = false;
    let again = 0;
    query.reject = (error) => {
      // postgres.js also rejects, once more, the statement that the connection ended on.
      if (isRejected) return;
      if (!query.active && hasEndedConnection(error) && again < sql.options.max) {
        again += 1;
        return query.handler(query);
      }
      if (!query.prepared || !mayBeLost(error)) {
        isRejected = true;
        return reject(error);
      }
      stopPreparing();
      query.options.prepare = false;
      query.parameters = undefined;
      // postgres.js is still processing the answer that says so.
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
 * postgres.js calls this to ask whether a busy connection takes another statement. If all are busy it would: a pooler
 * in transaction mode then loses the second, and it waits behind a slow one.
 */
function oneAtATime(): boolean {
  return false;
}

// PostgreSQL's codes for ending a connection: shutdown, crash of another, idle too long.
const endings = new Set(['57P01', '57P02', '57P05', '25P03', '25P04']);

/**
 * postgres.js reports what ended a connection to the statement that reopens it, too, before that is sent: once for each
 * connection, so that a statement meets it at most as often as the pool has connections.
 */
function hasEndedConnection(error: unknown): boolean {
  return error instanceof postgres.PostgresError && endings.has(error.code);
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
