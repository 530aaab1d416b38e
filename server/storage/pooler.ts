import { connect } from './connect.ts';
import type { Database, Place } from './database.ts';

/** Whether something answers in PostgreSQL's place: it reports another process than the one that runs the statement. */
export async function isBehindPooler(sql: Database): Promise<boolean> {
  const rows = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
  return rows.state.pid !== rows[0]?.pid;
}

/**
 * Adapts a pool to a pooler, if there is one: each transaction may run on another session, so nothing is prepared.
 * Throws an error with one readable sentence if the pooler requires other settings.
 */
export async function fitToPooler(sql: Database): Promise<void> {
  try {
    if (await isBehindPooler(sql)) sql.options.prepare = false;
  } catch (error) {
    const parameter = /^unsupported startup parameter: (\w+)/.exec((error as Error).message)?.[1];
    if (!parameter) throw error;
    throw new Error(
      `The pooler refuses ${parameter}: set ignore_startup_parameters = statement_timeout,plan_cache_mode in its configuration (docs/operating.md, Poolers).`,
    );
  }
}

/** What `vestibule doctor` reports about a pooler. */
export type PoolerReport = {
  /** `transaction` if two clients were seen to share one session; otherwise `unknown`. */
  pooler: 'none' | 'transaction' | 'unknown';
  /** Statement timeout in milliseconds; 0 for none. */
  statementTimeout: number;
  role: string;
  database: string;
};

/** Looks for a pooler in front of a database. */
export async function findPooler(sql: Database, place: Place): Promise<PoolerReport> {
  const [row] = await sql<[{ statementTimeout: number; role: string; database: string }]>`
    select setting::int as "statementTimeout", quote_ident(current_user) as role,
      quote_ident(current_database()) as database
    from pg_settings where name = 'statement_timeout'`;
  if (!(await isBehindPooler(sql))) return { pooler: 'none', ...row };
  return { pooler: (await areSessionsShared(place)) ? 'transaction' : 'unknown', ...row };
}

/** Whether a second client gets the session that a first one, still connected, had before. */
async function areSessionsShared(place: Place): Promise<boolean> {
  const [first, second] = [connect(place, { poolSize: 1 }), connect(place, { poolSize: 1 })];
  first.options.prepare = false;
  second.options.prepare = false;
  try {
    // A busy pooler may hand the session to another client in between.
    for (let attempt = 0; attempt < 5; attempt += 1) {
      const [before] = await first`select pg_backend_pid() as pid`;
      const [after] = await second`select pg_backend_pid() as pid`;
      if (before?.pid === after?.pid) return true;
    }
    return false;
  } finally {
    await Promise.all([first.end({ timeout: 1 }), second.end({ timeout: 1 })]);
  }
}
