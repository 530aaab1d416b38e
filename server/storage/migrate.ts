import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { limits } from '../limits.ts';
import { buildIndex } from './build-index.ts';
import type { Connection, Database } from './database.ts';
import { isBlocked, lockMigrations, lockTablesGently } from './migration-locks.ts';
import { type Migration, type Part, readMigrations } from './read-migrations.ts';

type Outcome = 'done' | 'again' | 'others';

export type MigrateOptions = {
  folder?: string;
  /** Is told the name of a file that must be tried again, since others hold a table that it changes. */
  onBlocked?: (name: string) => void;
};

/**
 * Files that came to lock a large table for too long, and were rewritten with the same result: the SHA-256 of the former text,
 * which databases of that time have run.
 */
const formerChecksums: Readonly<Record<string, string>> = {
  '0040-tokens-for-hubs.sql': 'f1ca4fe5a6c6f24960a0d0838a8994f33bfd08e6b6c7edf0481b1c2f3a6a8d11',
  '0046-fresh-proofs.sql': 'af3527758632d7623d67a619abe857e9f478f37aab27584df94bb1e045792ebf',
};
const ownFolder = join(import.meta.dirname, 'migrations');

/**
 * Brings the database to this version: runs the missing files `NNNN-what.sql`, in order, each in a transaction, while other
 * instances serve people. A file that would lock a table for long has lines `-- new transaction`: each part must be
 * repeatable. A part after `-- new transaction, again while rows change` is one statement that changes some rows of many; one
 * after `-- outside a transaction` builds an index that people need not wait for. Several instances may start at
 * once: one runs a part, the others wait. Returns the names of the files that were run. Throws an error with
 * one readable sentence if the database is newer than this version, or was made by files that have changed since.
 */
export async function migrate(sql: Database, options: MigrateOptions = {}): Promise<string[]> {
  const { folder = ownFolder, onBlocked = () => {} } = options;
  const migrations = await readMigrations(folder);
  const applied = await sql.begin((sql) => lockAndList(sql, migrations));
  const done: string[] = [];
  for (const migration of migrations) {
    if (applied.has(migration.name)) continue;
    if (await apply(sql, migration, migrations, onBlocked)) done.push(migration.name);
  }
  return done;
}

/** For a log: the migration of that name is blocked. */
export function blockedMigration(name: string): string {
  return (
    `${name} waits for something else, such as a backup, that uses a table which it changes; ` +
    'it tries again every second, and nobody waits for it meanwhile'
  );
}

async function lockAndList(sql: Connection, migrations: Migration[]): Promise<Map<string, string>> {
  await lockMigrations(sql);
  await createMigrationTable(sql);
  const applied = await listApplied(sql);
  refuseUnknown(migrations, applied);
  return applied;
}

/** Runs a file part by part; false if another instance was faster. */
async function apply(
  sql: Database,
  { name, parts, checksum }: Migration,
  migrations: Migration[],
  onBlocked: (name: string) => void,
): Promise<boolean> {
  let wasBlocked = false;
  const last = parts.at(-1);

  function runInTransaction(part: Part): Promise<Outcome> {
    return sql.begin(async (sql) => {
      if ((await lockAndList(sql, migrations)).has(name)) return 'others';
      await lockTablesGently(sql, part.text);
      const { count } = await sql.unsafe(part.text).simple();
      if (part.manner === 'new transaction, again while rows change' && count > 0) return 'again';
      if (part === last) await sql`insert into migration (name, checksum) values (${name}, ${checksum})`;
      return 'done';
    });
  }

  async function runOrWait(part: Part): Promise<Outcome> {
    try {
      return await runInTransaction(part);
    } catch (error) {
      if (!isBlocked(error)) throw error;
      if (!wasBlocked) onBlocked(name);
      wasBlocked = true;
      await pause(limits.migration.pause);
      return 'again';
    }
  }

  for (const part of parts) {
    if (part.manner === 'outside a transaction') {
      await buildIndex(sql, name, part.text);
      continue;
    }
    let outcome = await runOrWait(part);
    while (outcome === 'again') outcome = await runOrWait(part);
    if (outcome === 'others') return false;
  }
  return true;
}

async function createMigrationTable(sql: Connection): Promise<void> {
  const [found] = await sql`select to_regclass('migration') as oid`;
  if (found?.oid) return;
  await sql`
    create table migration (
      name text primary key,
      checksum text not null,
      applied_at timestamptz not null default now()
    )`;
}

async function listApplied(sql: Connection): Promise<Map<string, string>> {
  const rows = await sql<{ name: string; checksum: string }[]>`select name, checksum from migration`;
  return new Map(rows.map(({ name, checksum }) => [name, checksum]));
}

function refuseUnknown(migrations: Migration[], applied: Map<string, string>): void {
  const known = new Map(migrations.map(({ name, checksum }) => [name, checksum]));
  for (const [name, checksum] of applied) {
    if (!known.has(name)) {
      throw new Error(
        `The database belongs to a newer version of Vestibule (it has ${name}): run that version or a later one.`,
      );
    }
    if (known.get(name) !== checksum && formerChecksums[name] !== checksum) {
      throw new Error(
        `The migration ${name} was changed after this database had applied it: restore the file and add a new migration instead.`,
      );
    }
  }
}
