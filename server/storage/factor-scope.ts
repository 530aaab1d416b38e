import type { Connection } from './database.ts';
import { isEmailConfirmed } from './email-code.ts';
import { hasPasskey, isPasskeyRequiredOf, isPasskeyTakenOf, usablePasskeysOf } from './passkey-policy.ts';
import { type Fragment, isSsoRequiredOf } from './sso-domain.ts';

/**
 * Whether a session may set up a factor, which counts for the whole account; and if not, who can: the user after signing
 * in again, with their password, only an administrator, the user where every customer that requires a factor admits
 * them, or the user with their password and a code, where such a customer takes no passkeys.
 */
export type FactorScope =
  | 'mayRegister'
  | 'signInAgain'
  | 'withPassword'
  | 'byAdministrator'
  | 'whereAllAdmit'
  | 'withCode';

/**
 * A session from a connection speaks for one customer (docs/decisions/0019). It may set up a factor if that is the
 * whole account: the user belongs only to that customer, and has neither a password nor a passkey. A full session by password may unless a
 * customer that did not admit it requires a factor, which it must have proven: somebody with the password alone could
 * otherwise set up an app where no code is required, and use it where one is. A disabled customer counts, since it may be
 * enabled again. If its own customers have come to require one since, if the user has ever confirmed a code by email, or
 * if what it has proven counts no longer, the next sign-in that leads to the registration asks for it.
 */
export async function findFactorScope(sql: Connection, sessionId: string): Promise<FactorScope> {
  // Such a customer opens for no session by passkey, and to it a passkey proves no code.
  const takesNoPasskey = sql`(s.passkey_id is not null and c.passkeys = 'off')`;
  const [row] = await sql<
    Record<'byPassword' | 'leavesOut' | 'isUntaken' | 'isOutdated' | 'isElsewhere' | 'hasOwnWay', boolean>[]
  >`
    select s.connection_id is null as "byPassword",
      s.stage = 'full' and exists (
        select from membership m join customer c on c.id = m.customer_id
        where m.user_id = s.user_id and c.two_factor <> 'off' and (c.id <> all(s.customer_ids) or ${takesNoPasskey})
          and not (c.two_factor = 'email' and s.proven = 'code' and not ${takesNoPasskey})
      ) as "leavesOut",
      exists (
        select from membership m join customer c on c.id = m.customer_id
        where m.user_id = s.user_id and c.two_factor <> 'off' and ${takesNoPasskey}
      ) as "isUntaken",
      s.stage = 'full' and (s.proven = 'remembered' or s.connection_id is null and s.proven <> 'code' and (
        ${isEmailConfirmed(sql, sql`s.user_id`)} or exists (
          select from membership m join customer c on c.id = m.customer_id
          where m.user_id = s.user_id and c.two_factor <> 'off' and c.id = any(s.customer_ids)
        ))) as "isOutdated",
      ${isElsewhere(sql, sql`s`)} as "isElsewhere", ${hasOwnWay(sql, sql`s`)} as "hasOwnWay"
    from session s where s.id = ${sessionId}`;
  const isWhole = row && (row.byPassword ? !row.leavesOut : !row.isElsewhere && !row.hasOwnWay);
  if (isWhole) return row.isOutdated ? 'signInAgain' : 'mayRegister';
  if (row?.byPassword) return row.isUntaken ? 'withCode' : 'whereAllAdmit';
  return row?.hasOwnWay ? 'withPassword' : 'byAdministrator';
}

/** Full sessions of a user stay, but a code that they have proven no longer counts for another factor. */
export async function updateProvenByCode(sql: Connection, userId: string): Promise<void> {
  await sql`
    update session set proven = 'remembered', proof = 'remembered' where user_id = ${userId} and stage = 'full' and proven = 'code'`;
}

/** A condition on a session `s`: it comes from a connection and may not set up a factor. */
export function speaksForLess(sql: Connection, s: Fragment): Fragment {
  return sql`(${s}.connection_id is not null and (${isElsewhere(sql, s)} or ${hasOwnWay(sql, s)}))`;
}

/** A condition: the session's user belongs to another customer than that of its connection. */
function isElsewhere(sql: Connection, s: Fragment): Fragment {
  return sql`
    exists (
      select from membership m
      where m.user_id = ${s}.user_id and m.customer_id is distinct from (select customer_id from sso_connection where id = ${s}.connection_id)
    )`;
}

/**
 * A condition: the session's user can sign in by a password or passkey of their own. A passkey that opens nothing now counts, too,
 * as it may again: once its customer takes passkeys, or the portal is back at its domain.
 */
function hasOwnWay(sql: Connection, s: Fragment): Fragment {
  return isWayOf(sql, sql`${s}.user_id`, hasPasskey(sql, sql`${s}.user_id`));
}

/** Whether a user can sign in by a password or passkey of their own as things are. `rpId`: what usable passkeys are made for. */
export async function hasOwnWayNow(
  sql: Connection,
  { userId, rpId }: { userId: string; rpId: string | null },
): Promise<boolean> {
  const id = sql`${userId}::uuid`;
  const byPasskey = sql`(${isPasskeyTakenOf(sql, id)} and ${usablePasskeysOf(sql, id, rpId)} > 0)`;
  return (await sql`select where ${isWayOf(sql, id, byPasskey)}`).length > 0;
}

function isWayOf(sql: Connection, userId: Fragment, byPasskey: Fragment): Fragment {
  return sql`
    exists (
      select from portal_user whose
      where whose.id = ${userId} and not ${isSsoRequiredOf(sql, sql`whose.id`)} and (
        whose.password_hash is not null and not ${isPasskeyRequiredOf(sql, sql`whose.id`)}
        or ${byPasskey})
    )`;
}
