import type { Connection } from './database.ts';
import { isPasskeyRequiredOf, usablePasskeysOf } from './passkey-policy.ts';
import type { ResetUser } from './reset-link.ts';
import { isSsoRequiredOf } from './sso-domain.ts';

/** What decides whether somebody may be invited to choose how they sign in. */
export type InvitedUser = Omit<ResetUser, 'passwordHash' | 'ssoPossible' | 'passkeyTaken' | 'customers'> & {
  hasPassword: boolean;
  /** Keys of the active customers, sorted. */
  customers: string[];
};

/**
 * The users with some folded names, by name, locked until the transaction ends. Concurrent calls lock them in the same
 * order, so that they do not deadlock.
 */
export async function findInvitedForUpdate(
  sql: Connection,
  folds: readonly string[],
  rpId: string | null,
): Promise<Map<string, InvitedUser>> {
  const rows = await sql<(InvitedUser & { fold: string })[]>`
    select n.fold, u.id, u.username, u.email, u.language, u.active, u.password_hash is not null as "hasPassword",
      u.may_change_password as "mayChangePassword", ${isSsoRequiredOf(sql, sql`u.id`)} as "ssoRequired",
      ${usablePasskeysOf(sql, sql`u.id`, rpId)} as passkeys, ${isPasskeyRequiredOf(sql, sql`u.id`)} as "passkeyRequired",
      array(
        select c.key from membership m join customer c on c.id = m.customer_id
        where m.user_id = u.id and c.active order by c.key
      ) as customers
    from login_name n join portal_user u on u.id = n.user_id
    where n.fold = any(${folds as string[]}::text[]) order by u.id for no key update of u`;
  return new Map(rows.map(({ fold, ...user }) => [fold, user]));
}
