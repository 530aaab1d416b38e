import { admits } from './admits.ts';
import type { Connection } from './database.ts';
import { rowOrNull } from './row-or-null.ts';
import type { SignInCustomer, SignInUser } from './sign-in.ts';

/** A user as a connection may see them: `customer` is the connection's, null if they are not one of its users. */
export type SsoUser = Pick<SignInUser, 'id' | 'username' | 'email' | 'language' | 'active'> & {
  hasApp: boolean;
  customer: SignInCustomer | null;
};

/**
 * The user by id or by folded name, locked until the transaction ends, or null. Read by a separate statement: one that
 * waits for a lock sees everything but the locked row as it was before.
 */
export async function findSsoUserForShare(
  sql: Connection,
  by: { id: string } | { fold: string },
  { customerId, address }: { customerId: string; address: string },
) {
  const which =
    'id' in by ? sql`u.id = ${by.id}` : sql`u.id = (select user_id from login_name where fold = ${by.fold})`;
  const [locked] = await sql<{ id: string }[]>`select u.id from portal_user u where ${which} for share of u`;
  if (!locked) return null;
  return await rowOrNull(sql<SsoUser[]>`
    select u.id, u.username, u.email, u.language, u.active,
      exists (select from totp where totp.user_id = u.id) as "hasApp",
      (
        select jsonb_build_object('id', c.id, 'key', c.key, 'twoFactor', c.two_factor, 
          'rememberDevices', c.remember_devices, 'admits',
          ${admits(sql, sql`c.allowed_networks`, address)})
        from membership m join customer c on c.id = m.customer_id
        where m.user_id = u.id and c.id = ${customerId} and c.active
      ) as customer
    from portal_user u where u.id = ${locked.id}`);
}

/** A user of a customer by folded name, or null; not locked, since a second user's lock could end in a deadlock. */
export async function findMemberByName(sql: Connection, fold: string, customerId: string) {
  return await rowOrNull(sql<Pick<SsoUser, 'id' | 'username' | 'email'>[]>`
    select u.id, u.username, u.email
    from login_name l join portal_user u on u.id = l.user_id
    join membership m on m.user_id = u.id and m.customer_id = ${customerId} where l.fold = ${fold}`);
}
