import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Connection, Database } from './database.ts';

type Migration = { name: string; parts: string[]; checksum: string };

const migrationLock = 7_374_111;
const ownFolder = join(import.meta.dirname, 'migrations');

/**
 * Brings the database to this version: runs the missing files `NNNN-what.sql`, in order, each in a transaction. A file
 * that would lock a table for long has lines `-- new transaction`: each part must be repeatable. Several instances may
 * start at once: one runs a part, the others wait. Returns the names of the files that were run. Throws an error with
 * one readable sentence if the database is newer than this version, or was made by files that have changed since.
 */
export async function migrate(sql: Database, folder: string = ownFolder): Promise<string[]> {
  const migrations = await readMigrations(folder);
  const applied = await sql.begin((sql) => lockAndList(sql, migrations));
  const done: string[] = [];
  for (const migration of migrations) {
    if (!applied.has(migration.name) && (await apply(sql, migration, migrations))) done.push(migration.name);
  }
  return done;
}

/** Blocks other instances until the transaction ends: a session lock would stay behind in a pooler. */
async function lockAndList(sql: Connection, migrations: Migration[]): Promise<Map<string, string>> {
  await sql`set local statement_timeout = 0`;
  await sql`select pg_advisory_xact_lock(${migrationLock})`;
  await createMigrationTable(sql);
  const applied = await listApplied(sql);
  refuseUnknown(migrations, applied);
  return applied;
}

/** Runs a file part by part; false if another instance was faster. */
async function apply(sql: Database, { name, parts, checksum }: Migration, migrations: Migration[]): Promise<boolean> {
  for (const [at, part] of parts.entries()) {
    const mine = await sql.begin(async (sql) => {
      if ((await lockAndList(sql, migrations)).has(name)) return false;
      await sql.unsafe(part).simple();
      if (at === parts.length - 1) await sql`insert into migration (name, checksum) values (${name}, ${checksum})`;
      return true;
    });
    if (!mine) return false;
  }
  return true;
}

async function readMigrations(folder: string): Promise<Migration[]> {
  const names = (await readdir(folder)).filter((name) => /^\d{4}-[a-z0-9-]+\.sql$/.test(name)).sort();
  return Promise.all(
    names.map(async (name) => {
      // Git may check out other line ends than were committed.
      const sql = (await readFile(join(folder, name), 'utf8')).replaceAll('\r\n', '\n');
      const parts = sql.split(/^-- new transaction\n/m);
      return { name, parts, checksum: createHash('sha256').update(sql).digest('hex') };
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
        `The database belongs to a newer version of Vestibule (it has ${name}): run that version or a later one.`,
      );
    }
    if (known.get(name) !== checksum) {
      throw new Error(
        `The migration ${name} was changed after this database had applied it: restore the file and add a new migration instead.`,
      );
    }
  }
}
