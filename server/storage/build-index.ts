import { setTimeout as pause } from 'node:timers/promises';
import { limits } from '../limits.ts';
import { connectAgain } from './connect.ts';
import type { Database } from './database.ts';

// By the simple protocol: after another statement the transaction would keep its snapshot, for which the index waits.
const takeLock = 'select pg_try_advisory_xact_lock(7374112) as "isHeld"';

/**
 * Runs `create index concurrently if not exists NAME …` of a migration, which lets people read and write meanwhile. It cannot
 * run in a transaction, and waits for every statement that began before it. So a second connection holds the lock that makes
 * other instances wait, and they ask for it again and again. An index that a killed instance has left unfinished is dropped
 * first. Does nothing if another instance has completed the migration.
 */
export async function buildIndex(sql: Database, migration: string, text: string): Promise<void> {
  const builder = connectAgain(sql, { poolSize: 1, statementTimeout: 0 });
  const attempt = () =>
    sql.begin(async (holder) => {
      const [lock] = await holder.unsafe<{ isHeld: boolean }[]>(takeLock).simple();
      if (lock?.isHeld) await build(builder, migration, text);
      return lock?.isHeld;
    });
  try {
    while (!(await attempt())) await pause(limits.migration.pause);
  } finally {
    await builder.end({ timeout: 5 });
  }
}

/** Prepares no statement, as a pooler may be between. */
async function build(builder: Database, migration: string, text: string): Promise<void> {
  const [done] = await builder.unsafe('select from migration where name = $1', [migration]);
  if (done) return;
  const name = /create index concurrently if not exists (\w+)/.exec(text)?.[1];
  if (!name) throw new Error('Only "create index concurrently if not exists NAME" runs outside a transaction.');
  const [unfinished] = await builder.unsafe(
    'select from pg_index where indexrelid = to_regclass($1) and not indisvalid',
    [name],
  );
  if (unfinished) await builder.unsafe(`drop index concurrently if exists ${name}`);
  await builder.unsafe(text).simple();
}
