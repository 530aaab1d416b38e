import type { Connection } from '../database/database.ts';

/** Makes a user belong to exactly these customers; unknown keys, and customers that are just removed, are ignored. */
export async function updateMemberships(
  sql: Connection,
  userId: string,
  customerKeys: readonly string[],
): Promise<void> {
  const keys = customerKeys as string[];
  await sql`
    delete from membership using customer c
    where user_id = ${userId} and c.id = customer_id and c.key <> all(${keys}::text[])`;
  await sql`
    insert into membership (user_id, customer_id)
    select ${userId}, id from customer where key = any(${keys}::text[]) for key share
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
