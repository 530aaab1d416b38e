import { limits } from '../limits.ts';
import type { Connection } from './database.ts';

const migrationLock = 7_374_111;

/** Blocks other instances until the transaction ends: a session lock would stay behind in a pooler. */
export async function lockMigrations(sql: Connection): Promise<void> {
  await sql`set local statement_timeout = 0`;
  await sql`select pg_advisory_xact_lock(${migrationLock})`;
}

/**
 * Prepares a transaction that may change tables. A change that waits for a table makes everybody wait behind it: for a vacuum,
 * which gives way after a second only, for a backup until it has ended. So it first takes, of every table, a lock that nobody
 * but such work waits for, and then waits for other statements for {@link limits}.migration.lockWait only; `isBlocked` tells
 * that error.
 */
export async function lockTablesGently(sql: Connection): Promise<void> {
  await sql`select set_config('lock_timeout', ${String(limits.migration.gentleLockWait)}, true)`;
  await sql`
    do $$
    declare tables text;
    begin
      select string_agg(format('%I', relname), ', ') into tables from pg_class
      where relkind = 'r' and relnamespace = current_schema()::regnamespace and has_table_privilege(oid, 'update');
      if tables is not null then execute 'lock table ' || tables || ' in share update exclusive mode'; end if;
    end $$`.simple();
  await sql`select set_config('lock_timeout', ${String(limits.migration.lockWait)}, true)`;
}

/** Whether a statement gave up because others hold a table (PostgreSQL: 55P03 lock_not_available). */
export function isBlocked(error: unknown): boolean {
  return error instanceof Error && (error as { code?: unknown }).code === '55P03';
}
