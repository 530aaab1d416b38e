import type { Connection } from '../database/database.ts';

export async function listKeysOfCustomers(sql: Connection, userId: string): Promise<string[]> {
  const rows = await sql<{ key: string }[]>`
    select c.key from membership m join customer c on c.id = m.customer_id where m.user_id = ${userId} order by c.key`;
  return rows.map(({ key }) => key);
}
