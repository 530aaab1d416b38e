import type { Connection } from '../database/database.ts';
import { rowOrNull } from '../database/row-or-null.ts';
import { admits } from './admits.ts';
import type { Customer } from './customer.ts';
import type { SignInCustomer, SignInUser } from './sign-in-user.ts';
import { isSsoRequiredOf } from './sso-domain.ts';

/** A user as a sign-in by passkey sees them. */
export type PasskeyUser = Pick<SignInUser, 'id' | 'username' | 'email' | 'language' | 'active' | 'ssoRequired'> & {
  customers: (Pick<SignInCustomer, 'id' | 'key' | 'admits'> & Pick<Customer, 'passkeys'>)[];
};

/**
 * The user with an id, locked until the transaction ends, or null. Read by a separate statement: one that waits for a lock
 * sees everything but the locked row as it was before.
 */
export async function findPasskeyUserForShare(
  sql: Connection,
  userId: string,
  address: string,
): Promise<PasskeyUser | null> {
  const locked = await sql`select from portal_user where id = ${userId} for share`;
  if (locked.length === 0) return null;
  return await rowOrNull(sql<PasskeyUser[]>`
    select u.id, u.username, u.email, u.language, u.active, ${isSsoRequiredOf(sql, sql`u.id`)} as "ssoRequired",
      (
        select coalesce(jsonb_agg(jsonb_build_object('id', c.id, 'key', c.key, 'passkeys', c.passkeys, 'admits',
          ${admits(sql, sql`c.allowed_networks`, address)}) order by c.key), '[]')
        from membership m join customer c on c.id = m.customer_id
        where m.user_id = u.id and c.active
      ) as customers
    from portal_user u where u.id = ${userId}`);
}

/**
 * Whether a passkey can open an account at all, from wherever: not where a domain requires single sign-on, nor without a customer
 * that takes passkeys.
 */
export async function canOpenByPasskey(sql: Connection, userId: string): Promise<boolean> {
  const rows = await sql`
    select where not ${isSsoRequiredOf(sql, sql`${userId}::uuid`)} and exists (
      select from membership m join customer c on c.id = m.customer_id
      where m.user_id = ${userId} and c.active and c.passkeys <> 'off')`;
  return rows.length > 0;
}
