import { hash } from 'node:crypto';
import { dirname, extname } from 'node:path';
import pg, { type ClientBase, type PoolConfig, type QueryResult } from 'pg';
import { type Connection, type Database, type Place, type Query, RollBack, sqlOf } from './database.ts';

type ConnectOptions = {
  /** Maximum number of connections; 10 by default. */
  poolSize?: number;
  /** Statement timeout in milliseconds; 0 for none, 5000 by default. */
  statementTimeout?: number;
  /** The name that PostgreSQL shows for these connections. */
  name?: string;
  /** Receives notices from PostgreSQL; they are dropped by default. */
  onNotice?: (text: string) => void;
  /** Called when a connection ends, intentionally or not. */
  onClose?: () => void;
};

/** What PostgreSQL shows for the connections of a portal's or command's pool. */
export const poolName = 'vestibule';

/** How much longer than PostgreSQL's own time limit anybody waits for an answer: by then the server is silent. */
const silence = 1000;

const types = new pg.TypeOverrides();
// bigint: nothing here exceeds 2⁵³.
types.setTypeParser(20, Number);

/** Opens a pool on a database. It connects on the first statement, and again on the next one after a loss. */
export function connect(place: Place, options: ConnectOptions = {}): Database {
  const { poolSize = 10, statementTimeout: usualTimeout = 5000, name = poolName, onNotice, onClose } = options;
  const pool = new pg.Pool({
    ...settingsOf(place),
    max: poolSize,
    // One stays, so that a request after a pause need not wait for it.
    min: 1,
    connectionTimeoutMillis: 5000,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    // What is asked for at the same time is sent at the same time.
    pipeline: true,
    application_name: name,
    statement_timeout: usualTimeout,
    // Every statement looks up a few rows by key: planning it each time would cost more than running it.
    options: '-c plan_cache_mode=force_generic_plan',
    types,
    onConnect: async (client) => {
      // Whoever uses it gets the error as well.
      client.on('error', () => {});
      client.on('notice', ({ severity, message }) => onNotice?.(`${severity}: ${message}`));
      if (await isDirect(client)) direct.add(client);
    },
  });
  pool.on('error', () => {});
  pool.on('remove', () => onClose?.());

  /** After any error the connection is closed: that rolls back, and forgets statements whose tables have changed. */
  async function withClient<T>(work: (client: ClientBase) => Promise<T>): Promise<T> {
    const client = await pool.connect();
    let isSound = false;
    try {
      const result = await work(client);
      isSound = true;
      return result;
    } finally {
      client.release(!isSound);
    }
  }

  /** A transaction on one connection, whose statements `run` sends. */
  async function transaction<T, R>(
    work: (run: (query: Query) => Promise<QueryResult>) => Promise<T | RollBack<R>>,
    first: readonly string[],
    statementTimeout = usualTimeout,
  ): Promise<T | R> {
    const limit = statementTimeout === usualTimeout ? [] : [`set local statement_timeout = ${statementTimeout}`];
    return await withClient(async (client) => {
      await send(client, { text: ['begin', ...limit, ...first].join('; ') }, statementTimeout);
      const result = await work((query) => send(client, query, statementTimeout));
      if (result instanceof RollBack) {
        await send(client, { text: 'rollback' }, statementTimeout);
        return result.result;
      }
      // PostgreSQL answers ROLLBACK if a statement has failed, even if nobody minded.
      const { command } = await send(client, { text: 'commit' }, statementTimeout);
      if (command !== 'COMMIT') throw new Error('A statement of the transaction has failed: nothing of it is stored.');
      return result;
    });
  }

  function database(first: readonly string[]): Database {
    const alone = (query: Query) =>
      first.length === 0
        ? withClient((client) => send(client, query, usualTimeout))
        : transaction<QueryResult, never>((run) => run(query), first);
    return Object.assign(sqlOf(alone), {
      begin: <T, R>(
        work: (sql: Connection) => Promise<T | RollBack<R>>,
        { statementTimeout }: { statementTimeout?: number } = {},
      ) => transaction<T, R>((run) => work(sqlOf(run)), first, statementTimeout),
      within: (statement: string) => database([...first, statement]),
      end: () => pool.end(),
    });
  }

  return database([]);
}

function settingsOf(place: Place): PoolConfig {
  if ('url' in place) {
    const url = new URL(place.url);
    // sslmode means what it means to every other client of PostgreSQL.
    url.searchParams.set('uselibpqcompat', 'true');
    // Not what the environment has for others.
    if (!url.searchParams.has('sslmode')) url.searchParams.set('sslmode', 'disable');
    return { connectionString: url.href };
  }
  const { path, ...account } = place;
  return { ...account, ssl: false, host: dirname(path), port: Number(extname(path).slice(1)) };
}

/** Clients that no pooler stands before, so that PostgreSQL may keep their statements, planned, under a name. */
const direct = new WeakSet<ClientBase>();

/** A pooler has given a number of its own; each transaction behind it may run on another session. */
async function isDirect(client: ClientBase): Promise<boolean> {
  const { rows } = await send(client, { text: 'select pg_backend_pid() as pid' }, 5000);
  return rows[0]?.pid === (client as { processID?: number }).processID;
}

async function send(client: ClientBase, { text, values }: Query, timeout: number): Promise<QueryResult> {
  const result: QueryResult | QueryResult[] = await client.query({
    text,
    ...(values && { values }),
    // The name of a statement says what its text is, for every connection and process alike.
    ...(values && direct.has(client) && { name: hash('sha256', text).slice(0, 32) }),
    ...(timeout > 0 && { query_timeout: timeout + silence }),
  });
  // Of several statements, the last counts.
  return Array.isArray(result) ? (result.at(-1) as QueryResult) : result;
}

const awayCodes = new Set([
  // the operating system, while connecting to a server
  ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'EAI_AGAIN'],
  // PostgreSQL: statement timeout, shutdown, crash, starting up, a standby, an i/o error
  ...['57014', '57P01', '57P02', '57P03', '25006', '58030'],
  // PostgreSQL: a statement that it kept is gone, or its table has changed since; the next connection has it anew
  ...['26000', '0A000'],
]);

/** What `pg` says without a code when a connection is lost, silent or not to be had. */
const awayWords =
  /^(?:Connection terminated|Query read timeout|timeout e|Client (?:was closed|has encountered)|Cannot use a pool after)/;

/** Whether the database is down, overloaded or full: the request may work later (PostgreSQL, appendix A: classes 08, 53). */
export function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, syscall, message } = error as NodeJS.ErrnoException;
  if (typeof code !== 'string') return awayWords.test(message);
  if (code === 'ENOENT' || code === 'EACCES') return syscall === 'connect';
  return awayCodes.has(code) || /^(?:08|53)[0-9A-Z]{3}$/.test(code);
}

/** For a read that is optional while the database is down: null then. Any other error is thrown on. */
export function nullIfDatabaseAway(error: unknown): null {
  if (isDatabaseAway(error)) return null;
  throw error;
}
