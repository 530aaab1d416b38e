import { insertAuditEvent } from '../audit/audit-event.ts';
import type { AuditEvent, AuditStep } from '../audit/audit-events.ts';
import { type Connection, type Database, rowOrNull } from '../database/database.ts';
import { limits } from '../limits.ts';
import { countFailures } from '../throttle/throttle.ts';
import type { ThrottleKey } from '../throttle/throttle-keys.ts';
import { admits, type Customer } from './customer.ts';
import { isSsoRequiredOf } from './sign-in-policy.ts';

export type SignInUser = {
  id: string;
  username: string;
  email: string;
  language: string | null;
  passwordHash: string | null;
  active: boolean;
  /** Whether the domain of one of the names signs in only by single sign-on. */
  ssoRequired: boolean;
  /** The user's password was right in this browser before; it has its own attempts. */
  deviceKnown: boolean;
  customers: SignInCustomer[];
};

/** An active customer of the user; `admits` says whether its networks allow the address. */
export type SignInCustomer = Pick<Customer, 'id' | 'key' | 'twoFactor' | 'rememberDevices' | 'passkeys'> & {
  admits: boolean;
};

/** A folded name, and from where it was given. */
export type LookUp = { fold: string; address: string; deviceHash: Buffer | null; now: Date };

/** The user with a folded name, as a sign-in by password from an address and in a browser sees them, or null. */
export async function findSignInUser(
  sql: Connection,
  { fold, address, deviceHash, now }: LookUp,
): Promise<SignInUser | null> {
  const deviceSince = new Date(now.getTime() - limits.deviceLifetime);
  return await rowOrNull(sql<SignInUser[]>`
    select u.id, u.username, u.email, u.language, u.password_hash as "passwordHash", u.active,
      ${isSsoRequiredOf(sql, sql`u.id`)} as "ssoRequired",
      exists (
        select from device d
        where d.user_id = u.id and d.token_hash = ${deviceHash} and d.by_password and d.last_used_at > ${deviceSince}
      ) as "deviceKnown",
      ${activeCustomers(sql, address)}
    from login_name n join portal_user u on u.id = n.user_id
    where n.fold = ${fold}`);
}

/** A column: the active customers of a user `u`. */
const activeCustomers = (sql: Connection, address: string) => sql`
  (
    select coalesce(jsonb_agg(jsonb_build_object('id', c.id, 'key', c.key, 'twoFactor', c.two_factor,
      'rememberDevices', c.remember_devices, 'passkeys', c.passkeys,
      'admits', ${admits(sql, sql`c.allowed_networks`, address)}) order by c.key), '[]')
    from membership m join customer c on c.id = m.customer_id
    where m.user_id = u.id and c.active
  ) as customers`;

/** What is known of a user who proved who they are, as `vestibule explain` shows it to an operator. */
export function stepsOfUser({ active, customers }: Pick<SignInUser, 'active' | 'customers'>, address: string) {
  return [
    { step: 'active', outcome: active ? 'yes' : 'no' },
    { step: 'customers', outcome: customers.map(({ key }) => key).join(', ') || 'none' },
    ...customers.map(({ key, admits }) => ({
      step: `networks of ${key}`,
      outcome: admits ? `admit ${address}` : `do not admit ${address}`,
    })),
  ] satisfies AuditStep[];
}

/** Records a refused sign-in and counts it under the keys of its origin. Losing it with the machine is harmless. */
export async function insertRefusal(
  sql: Database,
  event: AuditEvent,
  keys: readonly ThrottleKey[],
  now: Date,
): Promise<void> {
  await sql.begin(async (sql) => {
    await Promise.all([
      sql`set local synchronous_commit = off`,
      insertAuditEvent(sql, event, now),
      countFailures(sql, keys, now),
    ]);
  });
}

/** A user as a connection may see them: `customer` is the connection's, null if they are not one of its users. */
export type SsoUser = Pick<SignInUser, 'id' | 'username' | 'email' | 'language' | 'active'> & {
  customer: SignInCustomer | null;
};

/** The user by id, folded name or linked subject, locked until the transaction ends, or null. */
export async function findSsoUser(
  sql: Connection,
  by: { id: string } | { fold: string } | { connectionId: string; subject: string },
  { customerId, address }: { customerId: string; address: string },
): Promise<SsoUser | null> {
  const user = await rowOrNull(sql<Omit<SsoUser, 'customer'>[]>`
    select id, username, email, language, active from portal_user where id = ${idOf(sql, by)} for no key update`);
  if (!user) return null;
  const customer = await rowOrNull(sql<SignInCustomer[]>`
    select c.id, c.key, c.two_factor as "twoFactor", c.remember_devices as "rememberDevices", c.passkeys,
      ${admits(sql, sql`c.allowed_networks`, address)} as admits
    from membership m join customer c on c.id = m.customer_id
    where m.user_id = ${user.id} and c.id = ${customerId} and c.active`);
  return { ...user, customer };
}

function idOf(sql: Connection, by: Parameters<typeof findSsoUser>[1]) {
  if ('id' in by) return sql`${by.id}`;
  if ('fold' in by) return sql`(select user_id from login_name where fold = ${by.fold})`;
  return sql`(
    select user_id from sso_subject where connection_id = ${by.connectionId} and subject = ${by.subject})`;
}

/** A user as a sign-in by passkey sees them. */
export type PasskeyUser = Pick<
  SignInUser,
  'id' | 'username' | 'email' | 'language' | 'active' | 'ssoRequired' | 'customers'
>;

/** The user with an id, locked, or null; in two statements: one that waits for a lock sees all else as it was before. */
export async function findPasskeyUserForShare(
  sql: Connection,
  userId: string,
  address: string,
): Promise<PasskeyUser | null> {
  const locked = await sql`select from portal_user where id = ${userId} for share`;
  if (locked.length === 0) return null;
  return await rowOrNull(sql<PasskeyUser[]>`
    select u.id, u.username, u.email, u.language, u.active, ${isSsoRequiredOf(sql, sql`u.id`)} as "ssoRequired",
      ${activeCustomers(sql, address)}
    from portal_user u where u.id = ${userId}`);
}

/** Whether a passkey can open an account at all: no domain requires single sign-on, and a customer takes passkeys. */
export async function canOpenByPasskey(sql: Connection, userId: string): Promise<boolean> {
  const rows = await sql`
    select where not ${isSsoRequiredOf(sql, sql`${userId}::uuid`)} and exists (
      select from membership m join customer c on c.id = m.customer_id
      where m.user_id = ${userId} and c.active and c.passkeys <> 'off')`;
  return rows.length > 0;
}
