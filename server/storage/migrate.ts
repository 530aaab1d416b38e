import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Connection, Database } from './database.ts';

type Migration = { name: string; parts: Part[]; checksum: string };
/** `isRepeated`: one statement, run again, each time in its own transaction, until it changes no row. */
type Part = { text: string; isRepeated: boolean };

const migrationLock = 7_374_111;
/**
 * Files that came to lock a large table for too long, and were rewritten with the same result: the SHA-256 of the former text,
 * which databases of that time have run.
 */
const formerChecksums: Readonly<Record<string, string>> = {
  '0040-tokens-for-hubs.sql': 'f1ca4fe5a6c6f24960a0d0838a8994f33bfd08e6b6c7edf0481b1c2f3a6a8d11',
};
const ownFolder = join(import.meta.dirname, 'migrations');

/**
 * Brings the database to this version: runs the missing files `NNNN-what.sql`, in order, each in a transaction. A file
 * that would lock a table for long has lines `-- new transaction`: each part must be repeatable. A part after `-- new
 * transaction, again while rows change` is one statement that changes some rows of many. Several instances may start at
 * once: one runs a part, the others wait. Returns the names of the files that were run. Throws an error with
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
  const runPart = ({ text, isRepeated }: Part, isLast: boolean) =>
    sql.begin(async (sql) => {
      if ((await lockAndList(sql, migrations)).has(name)) return 'others';
      const { count } = await sql.unsafe(text).simple();
      if (isRepeated && count > 0) return 'again';
      if (isLast) await sql`insert into migration (name, checksum) values (${name}, ${checksum})`;
      return 'done';
    });
  for (const part of parts) {
    let outcome = await runPart(part, part === parts.at(-1));
    while (outcome === 'again') outcome = await runPart(part, part === parts.at(-1));
    if (outcome === 'others') return false;
  }
  return true;
}

async function readMigrations(folder: string): Promise<Migration[]> {
  const names = (await readdir(folder)).filter((name) => /^\d{4}-[a-z0-9-]+\.sql$/.test(name)).sort();
  return Promise.all(
    names.map(async (name) => {
      // Git may check out other line ends than were committed.
      const sql = (await readFile(join(folder, name), 'utf8')).replaceAll('\r\n', '\n');
      return { name, parts: partsOf(sql), checksum: createHash('sha256').update(sql).digest('hex') };
    }),
  );
}

function partsOf(sql: string): Part[] {
  const [first = '', ...rest] = sql.split(/^-- new transaction(, again while rows change)?\n/m);
  const parts: Part[] = [{ text: first, isRepeated: false }];
  // The words after "new transaction" stand between the texts, undefined where there are none.
  for (let at = 0; at < rest.length; at += 2)
    parts.push({ text: rest[at + 1] ?? '', isRepeated: rest[at] !== undefined });
  return parts;
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
