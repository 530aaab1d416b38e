import { connect as connectSocket, type Socket } from 'node:net';
import postgres from 'postgres';
import type { Connection, Database, Place } from './database.ts';
import { isStatementLost, withFreshStatements } from './lost-statement.ts';

export type ConnectOptions = {
  /** Most connections at once; 10 when left out. */
  poolSize?: number;
  /** How long one statement may take, in milliseconds; 0 for as long as it needs, 5000 when left out. */
  statementTimeout?: number;
  /** The name that PostgreSQL shows for these connections. */
  name?: string;
  /** Takes what PostgreSQL remarks; it is dropped when left out. */
  onNotice?: (text: string) => void;
  /** Called when a connection ends, wanted or not. */
  onClose?: () => void;
};

/**
 * Opens a pool on a database. Nothing is connected before the first statement, and a lost connection is made again by the
 * next one. Times come as Date, bigint as number (nothing here counts beyond 2⁵³), undefined as a value is an error.
 */
export function connect(place: Place, options: ConnectOptions = {}): Database {
  const { poolSize = 10, statementTimeout = 5000, name = 'vestibule', onNotice, onClose } = options;
  const settings = {
    max: poolSize,
    connect_timeout: 5,
    // Retries come with the requests; a long pause would outlive the fault.
    backoff: () => 0.1,
    // Every statement looks up a few rows by key: planning it anew each time would cost more than running it.
    connection: { application_name: name, statement_timeout: statementTimeout, plan_cache_mode: 'force_generic_plan' },
    types: {
      bigint: {
        to: 20,
        from: [20],
        serialize: (value: number) => String(value),
        parse: (text: string) => Number(text),
      },
    },
    socket: answeringSocket,
    onnotice: (notice: postgres.Notice) => onNotice?.(`${notice.severity}: ${notice.message}`),
    onclose: () => onClose?.(),
  };
  const sql = 'url' in place ? postgres(place.url, settings) : postgres({ ...place, ...settings });
  return withFreshStatements(withoutRollbackAfterClose(sql), () =>
    onNotice?.(
      'WARNING: a prepared statement was lost: statements are no longer prepared (docs/operating.md, Poolers)',
    ),
  );
}

/**
 * postgres.js answers an error in a transaction with a ROLLBACK, also when the error is that the connection is gone: the
 * write then throws from a timer, where nobody can catch it, and ends the process (porsager/postgres #1208). A
 * transaction whose connection is gone is over by itself: its work never settles, and `begin` fails by the close.
 */
function withoutRollbackAfterClose(sql: Database): Database {
  const begin = sql.begin.bind(sql) as (work: (sql: Connection) => Promise<unknown>) => Promise<unknown>;
  const gone = /^(?:CONNECTION_|ECONN|EPIPE|57P0[123])/;
  sql.begin = ((work: (sql: Connection) => Promise<unknown>) =>
    begin(async (connection) => {
      try {
        return await work(connection);
      } catch (error) {
        if (gone.test(String((error as { code?: unknown }).code))) await new Promise(() => {});
        throw error;
      }
    })) as typeof sql.begin;
  return sql;
}

type SocketOptions = { path?: string | false; host: string[]; port: number[] };

/**
 * A connection that is accepted and closed at once, as a proxy does whose server is down, is an error: postgres.js would
 * try again at once and without end, and the request would hang.
 */
function answeringSocket({ path, host: [host = ''], port: [port = 0] }: SocketOptions): Socket {
  const socket = path ? connectSocket(path) : connectSocket(port, host);
  socket.once('close', (hadError) => {
    if (hadError || socket.bytesRead > 0) return;
    socket.emit(
      'error',
      Object.assign(new Error('the database closed the connection unanswered'), { code: 'ECONNRESET' }),
    );
  });
  // postgres.js takes the server name of TLS from here.
  return Object.assign(socket, { host, port });
}

const awayCodes = new Set([
  // postgres.js
  ...['CONNECTION_CLOSED', 'CONNECTION_ENDED', 'CONNECTION_DESTROYED', 'CONNECT_TIMEOUT'],
  // the operating system, on a way to the server
  ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'EAI_AGAIN'],
  // PostgreSQL: statement timeout, shutdown, crash, starting up, a standby, an i/o error
  ...['57014', '57P01', '57P02', '57P03', '25006', '58030'],
]);

/**
 * Whether an error says that the database is away, overloaded or full rather than that a statement is wrong: the same
 * request may work later (PostgreSQL, appendix A: classes 08 connection exception, 53 insufficient resources).
 */
export function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (typeof code !== 'string') return false;
  // The next try does not count on prepared statements any more.
  if (isStatementLost(error)) return true;
  if (code === 'ENOENT' || code === 'EACCES') return syscall === 'connect';
  return awayCodes.has(code) || /^(?:08|53)[0-9A-Z]{3}$/.test(code);
}
