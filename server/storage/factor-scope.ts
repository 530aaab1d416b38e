import type { Connection } from './database.ts';
import { isSsoRequiredOf } from './sso-domain.ts';

/**
 * Whether a session may set up a factor, which counts for the whole account; and if not, who can: the user with their
 * password, or only an administrator.
 */
export type FactorScope = 'mayRegister' | 'withPassword' | 'byAdministrator';

/**
 * A session from a connection speaks for one customer (docs/decisions/0019). It may set up a factor if that is the
 * whole account: the user belongs only to that customer, and has no password.
 */
export async function findFactorScope(sql: Connection, sessionHash: Buffer): Promise<FactorScope> {
  const [row] = await sql<{ byPassword: boolean; isElsewhere: boolean; hasPassword: boolean }[]>`
    select s.connection_id is null as "byPassword",
      exists (
        select from membership m
        where m.user_id = s.user_id and m.customer_id is distinct from (select customer_id from sso_connection where id = s.connection_id)
      ) as "isElsewhere",
      u.password_hash is not null and not ${isSsoRequiredOf(sql, sql`u.id`)} as "hasPassword"
    from session s join portal_user u on u.id = s.user_id where s.token_hash = ${sessionHash}`;
  if (row?.byPassword || (row && !row.isElsewhere && !row.hasPassword)) return 'mayRegister';
  return row?.hasPassword ? 'withPassword' : 'byAdministrator';
}
