import type { Connection } from './database.ts';

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
