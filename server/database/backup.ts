import { createReadStream, createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import type { Connection, Database } from './database.ts';

const rowsAtOnce = 500;

/**
 * Writes all rows, as they are at one moment, to a new file that only this user can read; the built-in PostgreSQL comes
 * without `pg_dump`. Compressed lines: the migrations that made the tables, then in each a table's name and some of its rows
 * as JSON.
 */
export async function writeBackup(sql: Database, path: string): Promise<void> {
  async function* lines(sql: Connection) {
    await sql`set transaction isolation level repeatable read`;
    yield `${await migrationsOf(sql)}\n`;
    for (const { table } of await tablesOf(sql)) {
      await sql`declare a_row no scroll cursor for select row_to_json(t)::text as json from ${sql(table)} t`;
      const some = () => sql.unsafe<{ json: string }[]>(`fetch ${rowsAtOnce} from a_row`);
      for (let rows = await some(); rows.length > 0; rows = await some())
        yield `${table} [${rows.map(({ json }) => json).join()}]\n`;
      await sql`close a_row`;
    }
  }
  const write = (sql: Connection) =>
    pipeline(
      Readable.from(lines(sql)),
      createGzip(),
      createWriteStream(path, { flags: 'wx', mode: 0o600, flush: true }),
    );
  await sql.begin(write, { statementTimeout: 0 });
}

/** The lines in texts that end anywhere. */
async function* linesOf(texts: AsyncIterable<string>): AsyncGenerator<string> {
  let begun = '';
  for await (const text of texts) {
    const lines = (begun + text).split('\n');
    begun = lines.pop() ?? '';
    yield* lines;
  }
}

/**
 * Replaces everything in the database by a backup, or nothing if it cannot be read to its end. Sessions, links and waiting
 * work end: since the backup, people may have signed out and used links. What runs beside it waits.
 */
export async function restoreBackup(sql: Database, path: string): Promise<void> {
  async function takeOver(sql: Connection, lines: AsyncGenerator<string>) {
    if ((await lines.next()).value !== (await migrationsOf(sql)))
      throw new Error('it is no backup of this version of Vestibule');
    const tables = await tablesOf(sql);
    await sql.unsafe(`lock table ${tables.map(({ table }) => table).join()} in access exclusive mode`);
    // Without it, triggers act and foreign keys want an order.
    await sql`set local session_replication_role = replica`;
    for (const { table } of tables) await sql`delete from ${sql(table)}`;
    for await (const line of lines) {
      const [table = '', rows = ''] = line.split(/ (.*)/s);
      await sql`
        insert into ${sql(table)} overriding system value
        select * from json_populate_recordset(null::${sql(table)}, ${rows}::json)`;
    }
    await sql`set local session_replication_role = origin`;
    await sql.unsafe('delete from job; delete from reset_link; delete from session');
    for (const { table, identity } of tables)
      if (identity)
        await sql`
          select setval(pg_get_serial_sequence(${table}, ${identity}), 1 + coalesce(max(${sql(identity)}), 0), false)
          from ${sql(table)}`;
  }
  const restore = (sql: Connection) =>
    pipeline(createReadStream(path), createGunzip().setEncoding('utf8'), (texts: AsyncIterable<string>) =>
      takeOver(sql, linesOf(texts)),
    );
  await sql.begin(restore, { statementTimeout: 0 });
}

async function migrationsOf(sql: Connection): Promise<string> {
  const rows = await sql`select checksum from migration order by name`;
  return rows.map(({ checksum }) => checksum).join();
}

/** All tables but that of the migrations; `identity`: the column that PostgreSQL numbers. */
async function tablesOf(sql: Connection): Promise<{ table: string; identity: string | null }[]> {
  return await sql<{ table: string; identity: string | null }[]>`
    select table_name as "table", max(column_name) filter (where is_identity = 'YES') as identity
    from information_schema.columns where table_schema = current_schema and table_name <> 'migration'
    group by table_name`;
}
