import type { Connection } from './database.ts';

/**
 * Keeps others from giving out names until the transaction ends, so that a name found free stays free. The primary key
 * would refuse the second one too, but only by an error.
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

/** Gives a user these folded names and no others; a username that is the e-mail counts once. */
export async function updateLoginNames(sql: Connection, userId: string, folds: readonly string[]): Promise<void> {
  await sql`delete from login_name where user_id = ${userId} and fold <> all(${folds as string[]}::text[])`;
  await sql`
    insert into login_name (fold, user_id)
    select distinct asked.fold, ${userId}::uuid from unnest(${folds as string[]}::text[]) as asked (fold)
    where not exists (select from login_name own where own.fold = asked.fold and own.user_id = ${userId})`;
}
