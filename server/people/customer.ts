import { type Connection, type Fragment, rowOrNull } from '../database/database.ts';
import { namesWithin } from './groups.ts';
import { hasEmailToProve } from './sign-in-policy.ts';

export type TwoFactorPolicy = 'off' | 'app' | 'email';
/** Whether a customer's people may sign in by passkey (docs/decisions/0052). */
export type PasskeyPolicy = 'off' | 'on';

export type Customer = {
  id: string;
  key: string;
  name: string;
  /** Empty means anywhere. */
  allowedNetworks: string[];
  twoFactor: TwoFactorPolicy;
  active: boolean;
  /** Its users get an email when they sign in from an unknown browser. */
  newDeviceMail: boolean;
  rememberDevices: boolean;
  passkeys: PasskeyPolicy;
  createdAt: Date;
};

export type NewCustomer = Pick<Customer, 'key' | 'name' | 'allowedNetworks' | 'twoFactor'> &
  Partial<Pick<Customer, 'newDeviceMail' | 'rememberDevices' | 'passkeys'>>;
export type CustomerChanges = Partial<Omit<Customer, 'id' | 'key' | 'createdAt'>>;

const columns = (sql: Connection) => sql`
  id, key, name, allowed_networks as "allowedNetworks", two_factor as "twoFactor", active,
  new_device_mail as "newDeviceMail", remember_devices as "rememberDevices", passkeys, created_at as "createdAt"`;

/** Adds a customer; false if the key is taken. */
export async function insertCustomer(sql: Connection, customer: NewCustomer, now: Date): Promise<boolean> {
  const { newDeviceMail = false, rememberDevices = true, passkeys = 'on' } = customer;
  const { count } = await sql`
    insert into customer (key, name, allowed_networks, two_factor, new_device_mail, remember_devices, passkeys, created_at)
    values (${customer.key}, ${customer.name}, ${customer.allowedNetworks}::cidr[], ${customer.twoFactor},
      ${newDeviceMail}, ${rememberDevices}, ${passkeys}, ${now})
    on conflict (key) do nothing`;
  return count > 0;
}

export async function findCustomer(sql: Connection, key: string) {
  return await rowOrNull(sql<Customer[]>`select ${columns(sql)} from customer where key = ${key}`);
}

/** The customer, locked until the transaction ends. */
export async function findCustomerForUpdate(sql: Connection, key: string) {
  return await rowOrNull(sql<Customer[]>`select ${columns(sql)} from customer where key = ${key} for update`);
}

/** All customers by key, each with its number of users. */
export async function listCustomers(sql: Connection): Promise<(Customer & { users: number })[]> {
  return await sql<(Customer & { users: number })[]>`
    select ${columns(sql)}, (select count(*) from membership where customer_id = customer.id) as users
    from customer order by key`;
}

/** Those of the keys that no customer has. */
export async function listUnknownCustomerKeys(sql: Connection, keys: readonly string[]): Promise<string[]> {
  const rows = await sql<{ key: string }[]>`
    select key from unnest(${keys as string[]}::text[]) as asked (key)
    where not exists (select from customer where customer.key = asked.key)`;
  return rows.map(({ key }) => key);
}

export async function updateCustomer(sql: Connection, id: string, changes: CustomerChanges): Promise<void> {
  await sql`
    update customer set
      name = coalesce(${changes.name ?? null}, name),
      allowed_networks = coalesce(${changes.allowedNetworks ?? null}::cidr[], allowed_networks),
      two_factor = coalesce(${changes.twoFactor ?? null}, two_factor),
      new_device_mail = coalesce(${changes.newDeviceMail ?? null}, new_device_mail),
      remember_devices = coalesce(${changes.rememberDevices ?? null}, remember_devices),
      passkeys = coalesce(${changes.passkeys ?? null}, passkeys),
      active = coalesce(${changes.active ?? null}, active)
    where id = ${id}`;
}

/** How many users of a customer can set up an app with the password alone: they have none, and no codes by email. */
export async function countUsersWithPasswordAlone(sql: Connection, key: string): Promise<number> {
  const [row] = await sql<[{ count: number }]>`
    select count(*)::int as count from membership m join customer c on c.id = m.customer_id
    where c.key = ${key} and not exists (select from totp where totp.user_id = m.user_id)
      and not ${hasEmailToProve(sql, sql`m.user_id`)}`;
  return row.count;
}

/** Removes a customer with its memberships, its connections, and their sessions. */
export async function deleteCustomer(sql: Connection, id: string): Promise<void> {
  // As every change of their sessions does.
  await sql`
    select from portal_user where id in (
      select s.user_id from session s join sso_connection c on c.id = s.connection_id where c.customer_id = ${id}
    ) order by id for no key update`;
  await sql`delete from customer where id = ${id}`;
}

/** A condition: a customer's networks (its column) admit an address; without any, every address. */
export function admits(sql: Connection, networks: Fragment, address: string | Fragment) {
  return sql`(${networks} = '{}' or ${address}::inet <<= any(${networks}))`;
}

type Memberships = { customers: readonly string[] } & Partial<Record<'groups' | 'administers', readonly string[]>>;

/**
 * Makes a user belong to exactly these customers, with these groups there, and look after those of them that they administer;
 * what is absent stays, as a provider may set groups meanwhile. Unknown keys, customers that are just removed, and groups of other customers are ignored.
 */
export async function updateMemberships(sql: Connection, userId: string, asked: Memberships): Promise<void> {
  const { customers, groups, administers } = asked;
  await sql`
    delete from membership using customer c
    where user_id = ${userId} and c.id = customer_id and c.key <> all(${customers}::text[])`;
  await sql`
    insert into membership (user_id, customer_id, groups, administers)
    select ${userId}, c.id, ${namesWithin(sql, sql`${groups ?? []}::text[]`)}, c.key = any(${administers ?? []}::text[])
    from customer c where c.key = any(${customers}::text[]) for key share
    on conflict (user_id, customer_id) do update set
      groups = case when ${groups !== undefined} then excluded.groups else membership.groups end,
      administers = case when ${administers !== undefined} then excluded.administers else membership.administers end`;
}

/** The usernames of those who belong only to this customer. */
export async function listUsersOfOnly(sql: Connection, customerId: string): Promise<string[]> {
  const rows = await sql<{ username: string }[]>`
    select username from portal_user u join membership m on m.user_id = u.id
    where m.customer_id = ${customerId}
      and not exists (select from membership other where other.user_id = u.id and other.customer_id <> m.customer_id)
    order by username`;
  return rows.map(({ username }) => username);
}

export async function listKeysOfCustomers(sql: Connection, userId: string): Promise<string[]> {
  const rows = await sql<{ key: string }[]>`
    select c.key from membership m join customer c on c.id = m.customer_id where m.user_id = ${userId} order by c.key`;
  return rows.map(({ key }) => key);
}
