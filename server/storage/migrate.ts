import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type postgres from 'postgres';
import type { Connection, Database } from './connect.ts';

type Migration = { name: string; sql: string; checksum: string };

const migrationLock = 7_374_111;
const ownFolder = join(import.meta.dirname, 'migrations');

/**
 * Brings the database to the state of this version: runs the files `NNNN-what.sql` that it does not have yet, in order,
 * each in a transaction. Several instances may start at once: one runs them, the others wait. Returns the names of what
 * was run. Throws an error with one readable sentence when the database is newer than this version, or was made by files
 * that have changed since.
 */
export async function migrate(sql: Database, folder: string = ownFolder): Promise<string[]> {
  const migrations = await readMigrations(folder);
  // The lock belongs to a session, so all of it runs on one connection.
  const one = await sql.reserve();
  try {
    await one`set statement_timeout = 0`;
    await one`select pg_advisory_lock(${migrationLock})`;
    await createMigrationTable(one);
    const applied = await listApplied(one);
    refuseUnknown(migrations, applied);
    const missing = migrations.filter(({ name }) => !applied.has(name));
    for (const migration of missing) await apply(one, migration);
    return missing.map(({ name }) => name);
  } finally {
    await leaveClean(one);
  }
}

async function leaveClean(one: postgres.ReservedSql): Promise<void> {
  try {
    await one`select pg_advisory_unlock(${migrationLock})`;
    await one`reset statement_timeout`;
  } finally {
    one.release();
  }
}

async function readMigrations(folder: string): Promise<Migration[]> {
  const names = (await readdir(folder)).filter((name) => /^\d{4}-[a-z0-9-]+\.sql$/.test(name)).sort();
  return Promise.all(
    names.map(async (name) => {
      // Git may write other line ends than were committed.
      const sql = (await readFile(join(folder, name), 'utf8')).replaceAll('\r\n', '\n');
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    }),
  );
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
        `The database was set up by a newer version of Vestibule (it has ${name}): run that version or a later one.`,
      );
    }
    if (known.get(name) !== checksum) {
      throw new Error(
        `The migration ${name} was changed after this database had run it: restore the file and add a new migration instead.`,
      );
    }
  }
}

async function apply(one: Connection, { name, sql: statements, checksum }: Migration): Promise<void> {
  await one`begin`;
  try {
    await one.unsafe(statements).simple();
    await one`insert into migration (name, checksum) values (${name}, ${checksum})`;
    await one`commit`;
  } catch (error) {
    await one`rollback`;
    throw error;
  }
}
