import postgres from 'postgres';
import { databaseAddresses } from '../config/database-addresses.ts';
import type { Connection, Database, Place } from './database.ts';
import { databaseSocket } from './database-socket.ts';
import { isStatementLost, withFreshStatements } from './lost-statement.ts';
import { primarySocket } from './primary.ts';

export type ConnectOptions = {
  /** Maximum number of connections; 10 by default. */
  poolSize?: number;
  /** Statement timeout in milliseconds; 0 for none, 5000 by default. */
  statementTimeout?: number;
  /** The name that PostgreSQL shows for these connections. */
  name?: string;
  /**
   * Whether statements have arrays, true by default. postgres.js looks up their types on each new connection by a query that
   * nobody can await; if that fails, the process ends unless it handles such a rejection.
   */
  arrays?: boolean;
  /** Receives notices from PostgreSQL; they are dropped by default. */
  onNotice?: (text: string) => void;
  /** Called when a connection ends, intentionally or not. */
  onClose?: () => void;
};

/**
 * Opens a pool on a database. It connects on the first statement and reconnects on the next one after a loss. Times
 * come as Date, bigint as number (nothing here exceeds 2⁵³), and undefined as a value is an error.
 */
export function connect(place: Place, options: ConnectOptions = {}): Database {
  const { poolSize = 10, statementTimeout = 5000, name = 'vestibule', arrays = true, onNotice, onClose } = options;
  const addresses = ('url' in place && databaseAddresses(place.url)) || [];
  const [first = ''] = addresses;
  const settings = {
    max: poolSize,
    connect_timeout: 5,
    fetch_types: arrays,
    // Requests bring the retries; a long pause would outlast the fault.
    backoff: () => 0.1,
    // Every statement looks up a few rows by key: planning it each time would cost more than running it.
    connection: { application_name: name, statement_timeout: statementTimeout, plan_cache_mode: 'force_generic_plan' },
    types: {
      bigint: {
        to: 20,
        from: [20],
        serialize: (value: number) => String(value),
        parse: (text: string) => Number(text),
      },
    },
    socket: addresses.length > 1 ? primarySocket(addresses) : databaseSocket,
    onnotice: (notice: postgres.Notice) => onNotice?.(`${notice.severity}: ${notice.message}`),
    onclose: () => onClose?.(),
  };
  const sql = 'url' in place ? postgres(first, settings) : postgres({ ...place, ...settings });
  return withFreshStatements(withoutRollbackAfterClose(sql), () =>
    onNotice?.(
      'WARNING: a prepared statement was lost: statements are no longer prepared (docs/operating.md, Poolers)',
    ),
  );
}

/**
 * postgres.js answers an error in a transaction with a ROLLBACK, even if the connection is gone: the write then throws
 * from a timer, where nobody can catch it, and ends the process (porsager/postgres #1208). A transaction whose
 * connection is gone is already over: its work never settles, and `begin` fails on close.
 */
function withoutRollbackAfterClose(sql: Database): Database {
  const begin = sql.begin.bind(sql) as (work: (sql: Connection) => Promise<unknown>) => Promise<unknown>;
  sql.begin = ((work: (sql: Connection) => Promise<unknown>) =>
    begin(async (connection) => {
      try {
        return await work(connection);
      } catch (error) {
        if (isConnectionGone(error)) await new Promise(() => {});
        throw error;
      }
    })) as typeof sql.begin;
  return sql;
}

/** Whether an error means that the connection it came from has ended: the network's, postgres.js' or PostgreSQL's own. */
export function isConnectionGone(error: unknown): boolean {
  return /^(?:CONNECTION_|E[A-Z]+$|57P0[123])/.test(String((error as { code?: unknown }).code));
}

const awayCodes = new Set([
  // postgres.js
  ...['CONNECTION_CLOSED', 'CONNECTION_ENDED', 'CONNECTION_DESTROYED', 'CONNECT_TIMEOUT'],
  // the operating system, while connecting to a server
  ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'EAI_AGAIN'],
  // PostgreSQL: statement timeout, shutdown, crash, starting up, a standby, an i/o error
  ...['57014', '57P01', '57P02', '57P03', '25006', '58030'],
]);

/**
 * Whether an error means that the database is down, overloaded or full, not that a statement is wrong: the same request
 * may work later (PostgreSQL, appendix A: classes 08 connection exception, 53 insufficient resources).
 */
export function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (typeof code !== 'string') return false;
  // The next attempt no longer relies on prepared statements.
  if (isStatementLost(error)) return true;
  if (code === 'ENOENT' || code === 'EACCES') return syscall === 'connect';
  return awayCodes.has(code) || /^(?:08|53)[0-9A-Z]{3}$/.test(code);
}

/** For a read that is optional while the database is down: null then. Any other error is thrown on. */
export function nullIfDatabaseAway(error: unknown): null {
  if (isDatabaseAway(error)) return null;
  throw error;
}
