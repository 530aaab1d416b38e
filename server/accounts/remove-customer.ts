import { insertAuditEvent } from '../storage/audit-event.ts';
import { deleteCustomer, findCustomerForUpdate } from '../storage/customer.ts';
import type { Database } from '../storage/database.ts';
import { listUsersOfOnly } from '../storage/membership.ts';
import { type NotAgreed, withAgreement } from '../storage/what-follows.ts';

export type RemoveCustomerResult = { kind: 'removed'; usersLeftWithout: string[] } | { kind: 'notFound' } | NotAgreed;

/**
 * Removes a customer with its memberships and connections, and records it. Returns the users left without a customer.
 * If one of the connections requires single sign-on, only with `isAgreed`.
 */
export async function removeCustomer(
  sql: Database,
  key: string,
  now: Date,
  isAgreed = false,
): Promise<RemoveCustomerResult> {
  return await withAgreement(sql, { toAll: isAgreed }, async (sql): Promise<RemoveCustomerResult> => {
    const customer = await findCustomerForUpdate(sql, key);
    if (!customer) return { kind: 'notFound' };
    const usersLeftWithout = await listUsersOfOnly(sql, customer.id);
    await deleteCustomer(sql, customer.id);
    await insertAuditEvent(sql, { event: 'customer-removed', customerKey: key }, now);
    return { kind: 'removed', usersLeftWithout };
  });
}
