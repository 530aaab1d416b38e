import { insertAuditEvent } from '../storage/audit-event.ts';
import type { Database } from '../storage/connect.ts';
import { deleteCustomer, findCustomerForUpdate } from '../storage/customer.ts';
import { listUsersOfOnly } from '../storage/membership.ts';

export type RemoveCustomerResult = { kind: 'removed'; usersLeftWithout: string[] } | { kind: 'notFound' };

/** Removes a customer and its memberships, and records it. Names the users who belong to no customer now. */
export async function removeCustomer(sql: Database, key: string, now: Date): Promise<RemoveCustomerResult> {
  return await sql.begin(async (sql): Promise<RemoveCustomerResult> => {
    const customer = await findCustomerForUpdate(sql, key);
    if (!customer) return { kind: 'notFound' };
    const usersLeftWithout = await listUsersOfOnly(sql, customer.id);
    await deleteCustomer(sql, customer.id);
    await insertAuditEvent(sql, { event: 'customer-removed', customerKey: key }, now);
    return { kind: 'removed', usersLeftWithout };
  });
}
