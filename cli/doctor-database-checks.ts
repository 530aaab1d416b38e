import { loopbackNames } from '#server/config/public-url.ts';
import type { Connection } from '#server/database/database.ts';
import type { Finding } from './doctor-checks.ts';
import { withDatabase } from './with-database.ts';

/** Whether what is sent to PostgreSQL and back can be read or changed on the way. */
export function checkLine(databaseUrl: string): Finding {
  const { hostname, searchParams } = new URL(databaseUrl);
  if (loopbackNames.includes(hostname)) return { ok: true, words: 'on this machine' };
  const mode = searchParams.get('sslmode') ?? '';
  if (mode === 'verify-full') return { ok: true, words: 'encrypted, and the certificate is checked' };
  const words =
    mode === 'require'
      ? 'encrypted, but the certificate is not checked, so another machine can pretend to be the database'
      : 'others on the network may read and change what is sent';
  return { ok: true, warning: true, words: `${words} – add sslmode=verify-full to DATABASE_URL` };
}

/** Whether a change that was acknowledged outlives PostgreSQL, its machine and a failover. */
export async function checkDurability(): Promise<Finding> {
  const { fsync, fullPageWrites, synchronousCommit, synchronousStandbys } = await withDatabase(findDurability);
  const off = [
    ...(fsync ? [] : ['fsync']),
    ...(fullPageWrites ? [] : ['full_page_writes']),
    ...(synchronousCommit === 'off' ? ['synchronous_commit'] : []),
  ];
  if (off.length > 0)
    return {
      ok: true,
      warning: true,
      words: `changes that were acknowledged may be lost – set ${off.join(', ')} to on in PostgreSQL`,
    };
  const isWaitedFor = synchronousStandbys !== '' && synchronousCommit !== 'local';
  return {
    ok: true,
    words: isWaitedFor
      ? 'changes are acknowledged once they are on a standby, too'
      : 'changes are acknowledged once they are on disk',
  };
}

/** Whether there is a pooler in front of the database, and whether it drops the statement timeout. */
export async function checkPooler(): Promise<Finding> {
  const { isPrepared, timeout, role, database } = await withDatabase(findStatementSettings);
  const words = isPrepared
    ? 'no pooler; statements are prepared'
    : 'pooler; statements are not prepared, which costs some speed';
  if (timeout > 0) return { ok: true, words };
  const remedy = `run "alter role ${role} in database ${database} set statement_timeout = '5s'", then RECONNECT the pooler`;
  return { ok: false, words: `${words}; statements have no time limit – ${remedy}` };
}

/** PostgreSQL's settings that say when a change is acknowledged. */
export type Durability = {
  fsync: boolean;
  fullPageWrites: boolean;
  synchronousCommit: string;
  /** Empty if no standby is waited for. */
  synchronousStandbys: string;
};

export async function findDurability(sql: Connection): Promise<Durability> {
  const [row] = await sql<[Durability]>`
    select current_setting('fsync')::boolean as fsync, current_setting('full_page_writes')::boolean as "fullPageWrites",
      current_setting('synchronous_commit') as "synchronousCommit",
      current_setting('synchronous_standby_names') as "synchronousStandbys"`;
  return row;
}

/** Whether PostgreSQL keeps our statements, as it does where no pooler is between, and for how long one may run. */
export type StatementSettings = {
  isPrepared: boolean;
  /** In milliseconds; 0 for no limit. */
  timeout: number;
  role: string;
  database: string;
};

export async function findStatementSettings(sql: Connection): Promise<StatementSettings> {
  const [row] = await sql<[StatementSettings]>`
    select exists (select from pg_prepared_statements) as "isPrepared", setting::int as timeout,
      quote_ident(current_user) as role, quote_ident(current_database()) as database
    from pg_settings where name = 'statement_timeout'`;
  return row;
}
