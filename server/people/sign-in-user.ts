import { insertAuditEvent } from '../audit/audit-event.ts';
import type { AuditEvent } from '../audit/audit-events.ts';
import type { Connection, Database } from '../database/database.ts';
import { rowOrNull } from '../database/row-or-null.ts';
import { limits } from '../limits.ts';
import { countFailures } from '../throttle/throttle.ts';
import type { ThrottleKey } from '../throttle/throttle-keys.ts';
import { admits } from './admits.ts';
import type { Customer } from './customer.ts';
import { isPasskeyRequiredOf } from './passkey-policy.ts';
import { isSsoRequiredOf } from './sso-domain.ts';

export type SignInUser = {
  id: string;
  username: string;
  email: string;
  language: string | null;
  passwordHash: string | null;
  active: boolean;
  /** Whether the domain of one of the names signs in only by single sign-on. */
  ssoRequired: boolean;
  /** Whether a customer takes passkeys only. */
  passkeyRequired: boolean;
  /** The user's password was right in this browser before; it has its own attempts. */
  deviceKnown: boolean;
  customers: SignInCustomer[];
};

/** An active customer of the user; `admits` says whether its networks allow the address. */
export type SignInCustomer = Pick<Customer, 'id' | 'key' | 'twoFactor' | 'rememberDevices'> & {
  admits: boolean;
};

/** The user with a folded name, as a sign-in by password from an address and in a browser sees them, or null. */
export async function findSignInUser(
  sql: Connection,
  { fold, address, deviceHash, now }: { fold: string; address: string; deviceHash: Buffer | null; now: Date },
): Promise<SignInUser | null> {
  const deviceSince = new Date(now.getTime() - limits.deviceLifetime);
  return await rowOrNull(sql<SignInUser[]>`
    select u.id, u.username, u.email, u.language, u.password_hash as "passwordHash", u.active,
      ${isSsoRequiredOf(sql, sql`u.id`)} as "ssoRequired",
      ${isPasskeyRequiredOf(sql, sql`u.id`)} as "passkeyRequired",
      exists (
        select from device d
        where d.user_id = u.id and d.token_hash = ${deviceHash} and d.by_password and d.last_used_at > ${deviceSince}
      ) as "deviceKnown",
      (
        select coalesce(jsonb_agg(jsonb_build_object('id', c.id, 'key', c.key, 'twoFactor', c.two_factor,
          'rememberDevices', c.remember_devices, 'admits',
          ${admits(sql, sql`c.allowed_networks`, address)}) order by c.key), '[]')
        from membership m join customer c on c.id = m.customer_id
        where m.user_id = u.id and c.active
      ) as customers
    from login_name n join portal_user u on u.id = n.user_id
    where n.fold = ${fold}`);
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
