import type { Connection } from '../database/database.ts';

/**
 * Blocks other writers of names until the transaction ends, so that a free name stays free. The primary key would
 * refuse a duplicate too, but only with an error.
 */
export async function lockLoginNames(sql: Connection): Promise<void> {
  await sql`lock table login_name in share row exclusive mode`;
}

/** Those of the folded names that belong to a user other than `userId`. */
export async function listTakenFolds(
  sql: Connection,
  folds: readonly string[],
  userId: string | null,
): Promise<string[]> {
  const rows = await sql<{ fold: string }[]>`
    select fold from login_name where fold = any(${folds as string[]}::text[]) and user_id is distinct from ${userId}`;
  return rows.map(({ fold }) => fold);
}

/** Gives a user exactly these folded names; a username equal to the email counts once. */
export async function updateLoginNames(sql: Connection, userId: string, folds: readonly string[]): Promise<void> {
  await sql`delete from login_name where user_id = ${userId} and fold <> all(${folds as string[]}::text[])`;
  await sql`
    insert into login_name (fold, user_id)
    select distinct asked.fold, ${userId}::uuid from unnest(${folds as string[]}::text[]) as asked (fold)
    where not exists (select from login_name own where own.fold = asked.fold and own.user_id = ${userId})`;
}
