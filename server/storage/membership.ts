import type { Connection } from './database.ts';

/**
 * Keeps a user's customers, and those of these keys, from being changed or removed until the transaction ends. Whoever
 * changes one holds it before `access_version`, which every change of a user or its memberships increments, so they are
 * locked before any of that (docs/decisions/0028).
 */
export async function lockCustomersOfUser(
  sql: Connection,
  userId: string,
  customerKeys: readonly string[],
): Promise<void> {
  await sql`
    select from customer c where c.key = any(${customerKeys as string[]}::text[])
      or c.id in (select customer_id from membership where user_id = ${userId})
    order by c.id for key share of c`;
}

/** Makes a user belong to exactly these customers; unknown keys are ignored. */
export async function updateMemberships(
  sql: Connection,
  userId: string,
  customerKeys: readonly string[],
): Promise<void> {
  const keys = customerKeys as string[];
  // Even deleting nothing increments the version.
  await lockCustomersOfUser(sql, userId, keys);
  await sql`
    delete from membership using customer c
    where user_id = ${userId} and c.id = customer_id and c.key <> all(${keys}::text[])`;
  await sql`
    insert into membership (user_id, customer_id)
    select ${userId}, id from customer where key = any(${keys}::text[])
    on conflict do nothing`;
}

/** The usernames of those who belong only to this customer. */
export async function listUsersOfOnly(sql: Connection, customerId: string): Promise<string[]> {
  const rows = await sql<{ username: string }[]>`
    select username from portal_user u join membership m on m.user_id = u.id
    where m.customer_id = ${customerId}
      and not exists (select from membership other where other.user_id = u.id and other.customer_id <> m.customer_id)
    order by username`;
  return rows.map(({ username }) => username);
}
