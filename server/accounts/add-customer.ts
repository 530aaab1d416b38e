import type { AuditStep } from '../audit/audit-events.ts';
import { insertAuditEvent } from '../storage/audit-event.ts';
import { insertCustomer, type NewCustomer } from '../storage/customer.ts';
import type { Database } from '../storage/database.ts';

/** Adds a customer from validated fields, and records it; false if the key is taken. */
export async function addCustomer(sql: Database, customer: NewCustomer, now: Date): Promise<boolean> {
  return await sql.begin(async (sql) => {
    if (!(await insertCustomer(sql, customer, now))) return false;
    const steps = settingsInWords(customer);
    await insertAuditEvent(sql, { event: 'customer-added', customerKey: customer.key, steps }, now);
    return true;
  });
}

/** What operators set for a customer, as events say it. */
export function settingsInWords(customer: NewCustomer): AuditStep[] {
  return [
    { step: 'name', outcome: customer.name },
    { step: 'networks', outcome: customer.allowedNetworks.join(', ') || 'anywhere' },
    { step: 'two-factor', outcome: customer.twoFactor },
    { step: 'email on a new device', outcome: customer.newDeviceMail ? 'on' : 'off' },
    { step: 'remembered devices', outcome: customer.rememberDevices === false ? 'off' : 'on' },
    { step: 'passkeys', outcome: customer.passkeys ?? 'on' },
  ];
}
