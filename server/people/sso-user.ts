import type { Connection } from '../database/database.ts';
import { rowOrNull } from '../database/row-or-null.ts';
import { admits } from './admits.ts';
import type { SignInCustomer, SignInUser } from './sign-in-user.ts';

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
    select id, username, email, language, active from portal_user where id = ${idOf(sql, by)} for share`);
  if (!user) return null;
  const customer = await rowOrNull(sql<SignInCustomer[]>`
    select c.id, c.key, c.two_factor as "twoFactor", c.remember_devices as "rememberDevices",
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
