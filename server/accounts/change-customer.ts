import type { AuditStep } from '../audit/audit-events.ts';
import { insertAuditEvent } from '../storage/audit-event.ts';
import { type Customer, type CustomerChanges, findCustomerForUpdate, updateCustomer } from '../storage/customer.ts';
import type { Database } from '../storage/database.ts';
import { deleteHalfSessionsOfCustomer } from '../storage/half-session.ts';
import { settingsInWords } from './add-customer.ts';

type ChangeCustomerResult = { kind: 'changed'; steps: AuditStep[] } | { kind: 'unchanged' } | { kind: 'notFound' };

/** Changes a customer and records it. Sessions see it at their next request, which reads the customer again. */
export async function changeCustomer(
  sql: Database,
  key: string,
  changes: CustomerChanges,
  now: Date,
): Promise<ChangeCustomerResult> {
  return await sql.begin(async (sql): Promise<ChangeCustomerResult> => {
    const customer = await findCustomerForUpdate(sql, key);
    if (!customer) return { kind: 'notFound' };
    const steps = stepsOf(customer, { ...customer, ...changes });
    if (steps.length === 0) return { kind: 'unchanged' };
    await updateCustomer(sql, customer.id, changes);
    if (changes.twoFactor && changes.twoFactor !== customer.twoFactor)
      await deleteHalfSessionsOfCustomer(sql, customer.id);
    await insertAuditEvent(sql, { event: 'customer-changed', customerKey: key, steps }, now);
    return { kind: 'changed', steps };
  });
}

function stepsOf(before: Customer, after: Customer): AuditStep[] {
  const words = (customer: Customer) => [
    ...settingsInWords(customer),
    { step: 'active', outcome: customer.active ? 'yes' : 'no' },
  ];
  const old = words(before);
  return words(after).flatMap(({ step, outcome }, index) =>
    old[index]?.outcome === outcome ? [] : [{ step, outcome: `${old[index]?.outcome} → ${outcome}` }],
  );
}
