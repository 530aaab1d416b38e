import type { Connection } from './database.ts';
import { type Fragment, isSsoRequiredOf } from './sso-domain.ts';

/**
 * Whether a session may set up a factor, which counts for the whole account; and if not, who can: the user with their
 * password, only an administrator, or the user where every customer that requires a factor admits them.
 */
export type FactorScope = 'mayRegister' | 'withPassword' | 'byAdministrator' | 'whereAllAdmit';

/**
 * A session from a connection speaks for one customer (docs/decisions/0019). It may set up a factor if that is the
 * whole account: the user belongs only to that customer, and has no password. A full session by password may unless a
 * customer that did not admit it requires a factor, which it must have proven: somebody with the password alone could
 * otherwise set up an app where no code is required, and use it where one is.
 */
export async function findFactorScope(sql: Connection, sessionHash: Buffer): Promise<FactorScope> {
  const [row] = await sql<{ byPassword: boolean; leavesOut: boolean; isElsewhere: boolean; hasPassword: boolean }[]>`
    select s.connection_id is null as "byPassword",
      s.stage = 'full' and exists (
        select from membership m join customer c on c.id = m.customer_id
        where m.user_id = s.user_id and c.active and c.two_factor <> 'off' and c.id <> all(s.customer_ids)
          and not (c.two_factor = 'email' and s.proven = 'code')
      ) as "leavesOut",
      ${isElsewhere(sql, sql`s`)} as "isElsewhere", ${hasPassword(sql, sql`s`)} as "hasPassword"
    from session s where s.token_hash = ${sessionHash}`;
  if (row?.byPassword) return row.leavesOut ? 'whereAllAdmit' : 'mayRegister';
  if (row && !row.isElsewhere && !row.hasPassword) return 'mayRegister';
  return row?.hasPassword ? 'withPassword' : 'byAdministrator';
}

/** A condition on a session `s`: it comes from a connection and may not set up a factor. */
export function speaksForLess(sql: Connection, s: Fragment): Fragment {
  return sql`(${s}.connection_id is not null and (${isElsewhere(sql, s)} or ${hasPassword(sql, s)}))`;
}

/** A condition: the session's user belongs to another customer than that of its connection. */
function isElsewhere(sql: Connection, s: Fragment): Fragment {
  return sql`
    exists (
      select from membership m
      where m.user_id = ${s}.user_id and m.customer_id is distinct from (select customer_id from sso_connection where id = ${s}.connection_id)
    )`;
}

/** A condition: the session's user can sign in by password. */
function hasPassword(sql: Connection, s: Fragment): Fragment {
  return sql`
    exists (
      select from portal_user whose
      where whose.id = ${s}.user_id and whose.password_hash is not null and not ${isSsoRequiredOf(sql, sql`whose.id`)}
    )`;
}
