import { limits } from '../limits.ts';
import type { Connection } from './database.ts';

const migrationLock = 7_374_111;

/** Blocks other instances until the transaction ends: a session lock would stay behind in a pooler. */
export async function lockMigrations(sql: Connection): Promise<void> {
  await sql`set local statement_timeout = 0`;
  await sql`select pg_advisory_xact_lock(${migrationLock})`;
}

/**
 * Prepares a transaction for a text that may change tables. A change that waits for a table makes everybody wait behind it: for a
 * vacuum, which gives way after a second only, for a backup until it has ended. So the transaction first takes, of every table
 * that the text names, a lock that nobody but such work waits for, and then waits for other statements for a moment only;
 * `isBlocked` tells that error.
 */
export async function lockTablesGently(sql: Connection, text: string): Promise<void> {
  await sql`select set_config('lock_timeout', ${String(limits.migration.gentleLockWait)}, true)`;
  const tables = await sql<{ name: string }[]>`
    select relname as name from pg_class
    where relkind = 'r' and relnamespace = current_schema()::regnamespace and relname ~ '^[a-z_]+$'
      and ${text} ~ ('\\m' || relname || '\\M')`;
  for (const { name } of tables) await sql`lock table ${sql(name)} in share update exclusive mode`;
  await sql`select set_config('lock_timeout', ${String(limits.migration.lockWait)}, true)`;
}

/** Whether a statement gave up because others hold a table (PostgreSQL: 55P03 lock_not_available). */
export function isBlocked(error: unknown): boolean {
  return error instanceof Error && (error as { code?: unknown }).code === '55P03';
}
