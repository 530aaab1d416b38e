import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root } from '../config/root.ts';
import type { Connection, Database } from './database.ts';

type Migration = { name: string; text: string; checksum: string };
const ownFolder = fileURLToPath(new URL('server/database/migrations', root));
const lock = 7_374_111;

/**
 * Runs the missing files `NNNN-what.sql` in one transaction, in one of the instances that start at once, and returns their names.
 * Throws one readable sentence if the database is newer than this version, or was made by a file that has changed since.
 */
export async function migrate(sql: Database, folder = ownFolder): Promise<string[]> {
  const migrations = await readMigrations(folder);
  const bringUp = async (sql: Connection) => {
    await sql`select pg_advisory_xact_lock(${lock})`;
    const applied = await listApplied(sql);
    refuseUnknown(migrations, applied);
    const missing = migrations.filter(({ name }) => !applied.has(name));
    for (const { name, text, checksum } of missing) {
      await sql.unsafe(text);
      await sql`insert into migration (name, checksum) values (${name}, ${checksum})`;
    }
    return missing.map(({ name }) => name);
  };
  return sql.begin(bringUp, { statementTimeout: 0 });
}

async function readMigrations(folder: string): Promise<Migration[]> {
  const names = (await readdir(folder)).filter((name) => /^\d{4}-[a-z0-9-]+\.sql$/.test(name)).sort();
  return Promise.all(
    names.map(async (name) => {
      // Git may check out other line ends than were committed.
      const text = (await readFile(join(folder, name), 'utf8')).replaceAll('\r\n', '\n');
      return { name, text, checksum: createHash('sha256').update(text).digest('hex') };
    }),
  );
}

async function listApplied(sql: Connection): Promise<Map<string, string>> {
  const [table] = await sql`select to_regclass('migration') as oid`;
  if (!table?.oid)
    await sql`create table migration (name text primary key, checksum text not null, applied_at timestamptz not null default now())`;
  const rows = await sql<{ name: string; checksum: string }[]>`select name, checksum from migration`;
  return new Map(rows.map(({ name, checksum }) => [name, checksum]));
}

function refuseUnknown(migrations: Migration[], applied: Map<string, string>): void {
  const known = new Map(migrations.map(({ name, checksum }) => [name, checksum]));
  for (const [name, checksum] of applied) {
    if (known.get(name) === checksum) continue;
    throw new Error(
      known.has(name)
        ? `The migration ${name} was changed after this database had applied it: restore the file and add another.`
        : `The database belongs to a newer version of Vestibule (it has ${name}): run that version or a later one.`,
    );
  }
}
