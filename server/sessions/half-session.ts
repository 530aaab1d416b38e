import type { Connection, Fragment } from '../database/database.ts';
import { rowOrNull } from '../database/database.ts';
import type { Asked, OpenFactor } from '../people/sign-in-policy.ts';
import { isEmailConfirmed, isSsoRequiredOf } from '../people/sign-in-policy.ts';
import type { FullSession, SessionStage } from './session.ts';
import { deleteOldestSessions } from './session.ts';

/**
 * A sign-in whose password or provider was right and that awaits more, as seen from an address. It opens nothing else. A right
 * code or passkey makes it the full session. It lasts ten minutes for each factor; after five wrong codes none is checked any more,
 * and a change of what a sign-in would ask ends it.
 */
export type HalfSession = OpenFactor &
  Pick<FullSession, 'id' | 'userId' | 'connectionId' | 'username' | 'email' | 'language' | 'createdAt' | 'endsAt'> & {
    /** What is still to be proven, in order; `factor` and `mustRegister` are of the first. */
    waitsFor: Asked[];
    codeTries: number;
    /** The session's customers that are still active, still the user's, and admit the address. */
    customers: { id: string; key: string; rememberDevices: boolean; takesPasskeys: boolean }[];
  };

/** What a half session waits for first, whether that is a registration, and whether its way in is still open; null if it has ended. */
export async function findOpenFactor(sql: Connection, sessionId: string) {
  return await rowOrNull(sql<(OpenFactor & { stillAdmits: boolean })[]>`
    select case when s.waits_for[1] = 'email' then 'email' else 'app' end as factor,
      ${mustRegisterOf(sql, sql`s`)} as "mustRegister",
      ${stillAdmits(sql, { connectionId: sql`s.connection_id`, userId: sql`u.id` })} as "stillAdmits"
    from session s join portal_user u on u.id = s.user_id where s.id = ${sessionId}`);
}

/** A condition on a session `s`: what it waits for first is yet to be registered. */
export function mustRegisterOf(sql: Connection, s: Fragment): Fragment {
  return sql`
    case when ${s}.stage = 'full' then false
      when ${s}.waits_for[1] = 'email' then not ${isEmailConfirmed(sql, sql`${s}.user_id`)}
      else not exists (select from totp where totp.user_id = ${s}.user_id) end`;
}

/** Locks a half session whose way in is still open until the transaction ends; false if it is gone. Lock the user first. */
export async function findHalfSessionForUpdate(sql: Connection, tokenHash: Buffer): Promise<boolean> {
  const rows = await sql`
    select from session where token_hash = ${tokenHash} and stage = 'half'
      and ${stillAdmits(sql, { connectionId: sql`session.connection_id`, userId: sql`session.user_id` })}
    for update`;
  return rows.length > 0;
}

/** What a half session has proven, and what it still waits for, under its next token: if that is nothing, it is full. */
export async function updateHalfSessionProven(
  sql: Connection,
  id: string,
  next: {
    tokenHash: Buffer;
    waitsFor: Asked[];
    /** The passkey that stood for what it waited for; null after a code. */
    passkeyId: string | null;
    address: string;
    browser: string | null;
    endsAt: Date;
    now: Date;
  },
): Promise<void> {
  const { tokenHash, waitsFor, passkeyId, address, browser, endsAt, now } = next;
  const [row] = await sql<{ userId: string; connectionId: string | null; stage: SessionStage }[]>`
    update session set
      waits_for = ${waitsFor}::text[],
      stage = ${waitsFor.length > 0 ? 'half' : 'full'},
      token_hash = ${tokenHash}, rotated_at = ${now},
      proof = ${passkeyId === null ? 'code' : 'passkey'}, proven_at = ${now},
      passkey_id = ${passkeyId},
      code_tries = 0,
      address = ${address}, browser = ${browser},
      last_seen_at = ${now},
      ends_at = least(${endsAt}::timestamptz, provider_ends_at)
    where id = ${id}
    returning user_id as "userId", connection_id as "connectionId", stage`;
  if (row?.stage === 'full') await deleteOldestSessions(sql, { tokenHash, address, ...row });
}

/** Ends a user's half sessions: what they wait for is no longer what a sign-in would ask. Lock the user first. */
export async function deleteHalfSessionsOfUser(sql: Connection, userId: string): Promise<number> {
  return (await sql`delete from session where user_id = ${userId} and stage = 'half'`).count;
}

/** The same of every user of a customer, which asks for another factor now. */
export async function deleteHalfSessionsOfCustomer(sql: Connection, customerId: string): Promise<void> {
  await sql`
    delete from session where stage = 'half'
      and user_id in (select user_id from membership where customer_id = ${customerId})`;
}

/** A condition: the connection still admits people, or, for a password, no domain of the user requires single sign-on. */
export function stillAdmits(sql: Connection, { connectionId, userId }: Record<'connectionId' | 'userId', Fragment>) {
  return sql`(
    case when ${connectionId} is null then not ${isSsoRequiredOf(sql, userId)}
    else exists (
      select from sso_connection by_connection join customer owner on owner.id = by_connection.customer_id
      where by_connection.id = ${connectionId} and by_connection.active and owner.active)
    end)`;
}
