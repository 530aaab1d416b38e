import { insertAuditEvent, newestActOn } from '../audit/audit-event.ts';
import type { AuditStep, By, ByWhoSaw } from '../audit/audit-events.ts';
import type { Database } from '../database/database.ts';
import {
  type CustomerChanges,
  deleteCustomer,
  findCustomerForUpdate,
  insertCustomer,
  listUsersOfOnly,
  type NewCustomer,
  updateCustomer,
} from '../people/customer.ts';
import { deleteHalfSessionsOfCustomer } from '../sessions/half-session.ts';
import { withAgreement } from '../single-sign-on/with-agreement.ts';
import { changedSteps } from './users.ts';

/** Adds a customer from validated fields, and records it; false if the key is taken. */
export async function addCustomer(sql: Database, customer: NewCustomer, { now, ...who }: By): Promise<boolean> {
  return await sql.begin(async (sql) => {
    if (!(await insertCustomer(sql, customer, now))) return false;
    const steps = customerInWords(customer);
    await insertAuditEvent(sql, { event: 'customer-added', customerKey: customer.key, steps, ...who }, now);
    return true;
  });
}

/** What operators set for a customer, as events say it. */
export function customerInWords(customer: NewCustomer & { active?: boolean }): AuditStep[] {
  return [
    { step: 'name', outcome: customer.name },
    { step: 'networks', outcome: customer.allowedNetworks.join(', ') || 'anywhere' },
    { step: 'two-factor', outcome: customer.twoFactor },
    { step: 'email on a new device', outcome: customer.newDeviceMail ? 'on' : 'off' },
    { step: 'remembered devices', outcome: customer.rememberDevices === false ? 'off' : 'on' },
    { step: 'passkeys', outcome: customer.passkeys ?? 'on' },
    { step: 'active', outcome: customer.active === false ? 'no' : 'yes' },
  ];
}

/** Changes a customer and records it. Sessions see it at their next request, which reads the customer again. */
export async function changeCustomer(sql: Database, key: string, changes: CustomerChanges, by: ByWhoSaw) {
  const { now, seen, ...who } = by;
  return await sql.begin(async (sql) => {
    const customer = await findCustomerForUpdate(sql, key);
    if (!customer) return { kind: 'notFound' } as const;
    if (seen !== undefined && seen !== (await newestActOn(sql, { customerKey: key })))
      return { kind: 'changedMeanwhile' } as const;
    const steps = changedSteps(customerInWords(customer), customerInWords({ ...customer, ...changes }));
    if (steps.length === 0) return { kind: 'unchanged' } as const;
    await updateCustomer(sql, customer.id, changes);
    if (changes.twoFactor && changes.twoFactor !== customer.twoFactor)
      await deleteHalfSessionsOfCustomer(sql, customer.id);
    await insertAuditEvent(sql, { event: 'customer-changed', customerKey: key, steps, ...who }, now);
    return { kind: 'changed', steps } as const;
  });
}

/**
 * Removes a customer with its memberships and connections, and records it; only with `isAgreed`. Returns the users left
 * without a customer.
 */
export async function removeCustomer(sql: Database, key: string, { now, ...who }: By, isAgreed = false) {
  return await withAgreement(sql, { toAll: isAgreed }, async (sql) => {
    const customer = await findCustomerForUpdate(sql, key);
    if (!customer) return { kind: 'notFound' } as const;
    const usersLeftWithout = await listUsersOfOnly(sql, customer.id);
    await deleteCustomer(sql, customer.id);
    await insertAuditEvent(sql, { event: 'customer-removed', customerKey: key, ...who }, now);
    return { kind: 'removed', usersLeftWithout } as const;
  });
}
