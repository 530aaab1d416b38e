import type { Connection } from './database.ts';

/** How many obsolete rows a statement deletes at most. */
export const deletedAtOnce = 20_000;

/**
 * Deletes the rows of a table that meet a condition, so many in each statement, which would otherwise reach its time limit
 * when there are many, and undo it all. Rows that somebody has locked are left for the next time. Returns how many.
 */
export async function deleteInParts(
  sql: Connection,
  table: string,
  condition: ReturnType<Connection>,
): Promise<number> {
  for (let deleted = 0; ; ) {
    const { count } = await sql`
      delete from ${sql(table)} where ctid = any(array(
        select ctid from ${sql(table)} where ${condition} limit ${deletedAtOnce} for update skip locked))`;
    deleted += count;
    if (count < deletedAtOnce) return deleted;
  }
}
