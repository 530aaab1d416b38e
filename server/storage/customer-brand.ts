import type { Connection } from './database.ts';
import { rowOrNull } from './row-or-null.ts';

/** A customer's brand as it is kept: the settings of its file, and its images in base64. */
export type KeptBrand = {
  settings: Record<string, unknown>;
  logo: string | null;
  logoDark: string | null;
  hosts: string[];
};

export type CustomerBrand = KeptBrand & { customerKey: string; version: string };

const columns = (sql: Connection) => sql`
  c.key as "customerKey", b.version::text as version, b.settings, b.logo, b.logo_dark as "logoDark",
  array(select host from customer_host where customer_id = c.id order by host) as hosts`;

/** Which customers have a brand, and the number of its version. */
export async function listBrandVersions(sql: Connection): Promise<{ customerKey: string; version: string }[]> {
  return await sql<{ customerKey: string; version: string }[]>`
    select c.key as "customerKey", b.version::text as version
    from customer_brand b join customer c on c.id = b.customer_id order by c.key`;
}

export async function listCustomerBrands(sql: Connection, keys: readonly string[]): Promise<CustomerBrand[]> {
  return await sql<CustomerBrand[]>`
    select ${columns(sql)} from customer_brand b join customer c on c.id = b.customer_id
    where c.key = any(${keys as string[]}) order by c.key`;
}

export async function findCustomerBrand(sql: Connection, key: string) {
  return await rowOrNull(sql<CustomerBrand[]>`
    select ${columns(sql)} from customer_brand b join customer c on c.id = b.customer_id where c.key = ${key}`);
}

/** Differs whenever a brand was set, replaced or removed: each of these changes the count or the sum of the versions. */
export async function brandsVersion(sql: Connection): Promise<string> {
  const [row] = await sql<[{ version: string }]>`
    select count(*) || '/' || coalesce(sum(version), 0) as version from customer_brand`;
  return row.version;
}

/** Until the transaction ends nobody else takes a host; reading goes on. */
export async function lockHosts(sql: Connection): Promise<void> {
  await sql`lock table customer_host in share row exclusive mode`;
}

/** Which of the hosts another customer has, with its key. */
export async function hostsOfOthers(
  sql: Connection,
  customerId: string,
  hosts: readonly string[],
): Promise<{ host: string; customerKey: string }[]> {
  return await sql<{ host: string; customerKey: string }[]>`
    select h.host, c.key as "customerKey" from customer_host h join customer c on c.id = h.customer_id
    where h.host = any(${hosts as string[]}) and h.customer_id <> ${customerId} order by h.host`;
}

/** Replaces a customer's brand and hosts; all hosts must be free. */
export async function putCustomerBrand(
  sql: Connection,
  customerId: string,
  { settings, logo, logoDark, hosts }: KeptBrand,
  now: Date,
): Promise<void> {
  await sql`
    insert into customer_brand (customer_id, settings, logo, logo_dark, changed_at)
    values (${customerId}, ${sql.json(settings as never)}, ${logo}, ${logoDark}, ${now})
    on conflict (customer_id) do update set
      settings = excluded.settings, logo = excluded.logo, logo_dark = excluded.logo_dark,
      changed_at = excluded.changed_at, version = nextval('customer_brand_version_seq')`;
  await sql`delete from customer_host where customer_id = ${customerId}`;
  for (const host of hosts) await sql`insert into customer_host (host, customer_id) values (${host}, ${customerId})`;
}

/** Removes a customer's brand and hosts; false if it has none. */
export async function deleteCustomerBrand(sql: Connection, customerId: string): Promise<boolean> {
  await sql`delete from customer_host where customer_id = ${customerId}`;
  return (await sql`delete from customer_brand where customer_id = ${customerId}`).count > 0;
}
