import type { Connection } from './database.ts';

/** The keys of a user's customers, as an array in SQL; `userId` is an expression of its query. */
export function keysOfCustomers(sql: Connection, userId: ReturnType<Connection>) {
  return sql`array(
    select c.key from membership m join customer c on c.id = m.customer_id where m.user_id = ${userId} order by c.key
  )`;
}

export async function listKeysOfCustomers(sql: Connection, userId: string): Promise<string[]> {
  const [row] = await sql<{ keys: string[] }[]>`select ${keysOfCustomers(sql, sql`${userId}::uuid`)} as keys`;
  return row?.keys ?? [];
}
