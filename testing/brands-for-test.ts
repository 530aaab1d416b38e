import { setCustomerBrand } from '#server/accounts/set-customer-brand.ts';
import type { KeptBrand } from '#server/storage/customer-brand.ts';
import type { PortalForTest } from './portal-for-test.ts';

/** Gives a customer a brand, which the portal has read by then. */
export async function giveBrand(
  { sql, deps }: PortalForTest,
  key: string,
  { hosts = [], logo = null, logoDark = null, ...settings }: Partial<KeptBrand> & Record<string, unknown>,
): Promise<void> {
  const kept = { settings, hosts, logo, logoDark } as KeptBrand;
  const result = await setCustomerBrand(sql, key, kept, deps.now());
  if (result.kind !== 'set') throw new Error(`the brand of ${key}: ${result.kind}`);
  await deps.brands.refresh();
}
