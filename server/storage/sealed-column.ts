import type { Connection } from './database.ts';

/** A column of sealed texts (secrets/sealed.ts), and the key of its rows. */
export type SealedColumn = { table: string; column: string; key: string; keyType: 'uuid' | 'bytea' };

/** A sealed text with the data it is bound to. */
export type SealedRow = { key: string; sealed: Buffer; userId: string | null; sessionHash: Buffer | null };

/** The next rows in key order, at most `most`. */
export async function listSealedRows(
  sql: Connection,
  { table, column, key, keyType }: SealedColumn,
  { after, most }: { after: string | null; most: number },
): Promise<SealedRow[]> {
  const id = sql(key);
  return await sql<SealedRow[]>`
    select ${id}::text as key, ${sql(column)} as sealed, to_jsonb(t) ->> 'user_id' as "userId",
      decode(substr(to_jsonb(t) ->> 'session_hash', 3), 'hex') as "sessionHash"
    from ${sql(table)} t
    where ${sql(column)} is not null
      and ${after === null ? sql`true` : sql`${id} > ${after}::text::${sql.unsafe(keyType)}`}
    order by ${id} limit ${most}`;
}

/**
 * Replaces a seal, unless the row was changed or removed meanwhile: then false. One row at a time, so that nobody waits
 * for longer than that.
 */
export async function replaceSeal(
  sql: Connection,
  { table, column, key, keyType }: SealedColumn,
  row: { key: string; before: Buffer; after: Buffer },
): Promise<boolean> {
  const { count } = await sql`
    update ${sql(table)} set ${sql(column)} = decode(${row.after.toString('hex')}, 'hex')
    where ${sql(key)} = ${row.key}::text::${sql.unsafe(keyType)}
      and ${sql(column)} = decode(${row.before.toString('hex')}, 'hex')`;
  return count > 0;
}
