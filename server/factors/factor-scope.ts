import type { Connection, Fragment } from '../database/database.ts';
import type { Customer } from '../people/customer.ts';
import { isEmailConfirmed } from '../people/email-before-app.ts';
import { hasPasskey, isPasskeyRequiredOf, isPasskeyTakenOf, usablePasskeysOf } from '../people/passkey-policy.ts';
import type { Asked } from '../people/second-factor.ts';
import { isSsoRequiredOf } from '../people/sso-domain.ts';
import type { FullSession, SessionStage } from '../sessions/session.ts';

/** Of a session, what its right to set up a factor depends on. */
export type SessionOfAccount = Pick<FullSession, 'connectionId' | 'proof' | 'provenAt'> & {
  stage: SessionStage;
  waitsFor: Asked[];
  customerIds: string[];
};

/** Of its user's account, likewise. A disabled customer is one of them: it may be enabled again. */
export type AccountOfSession = {
  /** Of their own, that sign in; a passkey that opens nothing now counts, too, as it may again. */
  hasPassword: boolean;
  hasPasskey: boolean;
  /** A code by email has reached the user. */
  isEmailConfirmed: boolean;
  customers: Pick<Customer, 'id' | 'twoFactor' | 'passkeys'>[];
  /** The customer of the connection that the session came by. */
  connectionCustomerId: string | null;
};

export async function findAccountOfSession(
  sql: Connection,
  sessionId: string,
): Promise<{ session: SessionOfAccount; account: AccountOfSession } | null> {
  const [row] = await sql<(SessionOfAccount & AccountOfSession)[]>`
    select s.stage, s.connection_id as "connectionId", s.proof, s.proven_at as "provenAt", s.waits_for as "waitsFor",
      s.customer_ids as "customerIds",
      u.password_hash is not null and not ${isSsoRequiredOf(sql, sql`u.id`)} and not ${isPasskeyRequiredOf(sql, sql`u.id`)}
        as "hasPassword",
      not ${isSsoRequiredOf(sql, sql`u.id`)} and ${hasPasskey(sql, sql`u.id`)} as "hasPasskey",
      ${isEmailConfirmed(sql, sql`u.id`)} as "isEmailConfirmed",
      (select customer_id from sso_connection where id = s.connection_id) as "connectionCustomerId",
      (
        select coalesce(jsonb_agg(jsonb_build_object('id', c.id, 'twoFactor', c.two_factor, 'passkeys', c.passkeys)), '[]')
        from membership m join customer c on c.id = m.customer_id where m.user_id = u.id
      ) as customers
    from session s join portal_user u on u.id = s.user_id
    where s.id = ${sessionId}`;
  return row ? { session: row, account: row } : null;
}

/** Full sessions of a user stay, but a code that they have proven no longer counts for another factor. */
export async function updateProvenByCode(sql: Connection, userId: string): Promise<void> {
  await sql`
    update session set proof = 'remembered' where user_id = ${userId} and stage = 'full' and proof = 'code'`;
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
