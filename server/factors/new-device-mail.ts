import type { Connection } from '../database/database.ts';

/**
 * Whether an active customer of the user wants a sign-in from a new browser reported, even one that the sign-in is not
 * for: after any sign-in the browser is known, and this mail would never be sent.
 */
export async function wantsNewDeviceMail(sql: Connection, userId: string): Promise<boolean> {
  const wanting = await sql`
    select from membership m join customer c on c.id = m.customer_id
    where m.user_id = ${userId} and c.active and c.new_device_mail limit 1`;
  return wanting.length > 0;
}
