import { insertAuditEvent } from '../storage/audit-event.ts';
import { findCustomerForUpdate } from '../storage/customer.ts';
import {
  deleteCustomerBrand,
  hostsOfOthers,
  type KeptBrand,
  lockHosts,
  putCustomerBrand,
} from '../storage/customer-brand.ts';
import type { Database } from '../storage/database.ts';

export type SetBrandResult =
  | { kind: 'set' | 'removed' | 'none' | 'notFound' }
  | { kind: 'hostTaken'; hosts: { host: string; customerKey: string }[] };

/** Replaces a customer's brand by one that was checked, or removes it if null, and records it. */
export async function setCustomerBrand(
  sql: Database,
  key: string,
  brand: KeptBrand | null,
  now: Date,
): Promise<SetBrandResult> {
  return await sql.begin(async (sql): Promise<SetBrandResult> => {
    const customer = await findCustomerForUpdate(sql, key);
    if (!customer) return { kind: 'notFound' };
    const record = async (outcome: string) =>
      await insertAuditEvent(
        sql,
        { event: 'customer-changed', customerKey: key, steps: [{ step: 'brand', outcome }] },
        now,
      );
    if (!brand) {
      if (!(await deleteCustomerBrand(sql, customer.id))) return { kind: 'none' };
      await record('removed');
      return { kind: 'removed' };
    }
    await lockHosts(sql);
    const taken = await hostsOfOthers(sql, customer.id, brand.hosts);
    if (taken.length > 0) return { kind: 'hostTaken', hosts: taken };
    await putCustomerBrand(sql, customer.id, brand, now);
    await record(wordsOf(brand));
    return { kind: 'set' };
  });
}

/** What a brand sets, for the audit log and the command. */
export function wordsOf({ settings, logo, logoDark, hosts }: KeptBrand): string {
  const set = [...Object.keys(settings), ...(logo ? ['logo'] : []), ...(logoDark ? ['logoDark'] : []), ...hosts];
  return set.join(', ') || 'nothing of its own';
}
