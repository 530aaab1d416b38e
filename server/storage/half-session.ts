import type { Connection } from './database.ts';
import { isEmailBeforeApp, openFactorOf } from './email-before-app.ts';
import { isPasskeyRequiredOf } from './passkey-policy.ts';
import { rowOrNull } from './row-or-null.ts';
import type { OpenFactor } from './second-factor.ts';
import type { FullSession, SessionOrigin } from './session.ts';
import { type Fragment, isSsoRequiredOf } from './sso-domain.ts';

/**
 * A sign-in whose password or provider was right and that awaits its second factor, as seen from an address. It ends with a
 * right code (two-factor/verify-code.ts) or passkey (passkeys/sign-in-by-passkey.ts), after ten minutes or when no customer
 * admits the address (visitor-session.ts), with a sign-out here (session/end-session.ts), at the provider
 * (provider-sessions.ts) or by an operator (accounts/sign-out-user.ts), another sign-in of its browser, as the oldest of too many (oldest-sessions.ts),
 * and when its user, connection or factor changes, or its domain comes to require single sign-on, or its customer passkeys
 * (isStillAWayIn; docs/decisions/0028, 0031). After five wrong codes (code-try.ts) no more are checked.
 */
export type HalfSession = OpenFactor &
  Pick<FullSession, 'id' | 'userId' | 'connectionId' | 'username' | 'email' | 'language' | 'createdAt' | 'endsAt'> & {
    /** The code by email that it waits for comes before the registration of an app. */
    thenApp: boolean;
    codeTries: number;
    /** The session's customers that are still active, still the user's, and admit the address. */
    customers: { id: string; key: string; rememberDevices: boolean; takesPasskeys: boolean }[];
  };

/** What a half session waits for now, whether the registration of an app comes next, and whether its way in is still open; null if it has ended. */
export async function findOpenFactor(sql: Connection, sessionId: string) {
  return await rowOrNull(sql<(OpenFactor & { thenApp: boolean; isStillAWayIn: boolean })[]>`
    select ${openFactorOf(sql, sql`s`)},
      ${isStillAWayIn(sql, { connectionId: sql`s.connection_id`, userId: sql`u.id` })} as "isStillAWayIn"
    from session s join portal_user u on u.id = s.user_id where s.id = ${sessionId}`);
}

/**
 * Ends a half session for good and returns where it came from; null if it is gone, or its way in is no longer open. Of several
 * concurrent calls one gets it.
 */
export async function takeHalfSession(sql: Connection, tokenHash: Buffer): Promise<SessionOrigin | null> {
  return await rowOrNull(sql<SessionOrigin[]>`
    delete from session where token_hash = ${tokenHash} and stage = 'half'
      and ${isStillAWayIn(sql, { connectionId: sql`session.connection_id`, userId: sql`session.user_id` })}
    returning connection_id as "connectionId", sealed_id_token as "sealedIdToken",
      provider_ends_at as "providerEndsAt", authenticated_at as "authenticatedAt",
      provider_subject_hash as "providerSubjectHash", provider_session_hash as "providerSessionHash"`);
}

/** Ends a user's half sessions that wait for a code by email, or have just proven one; returns how many. */
export async function deleteHalfSessionsByEmail(sql: Connection, userId: string): Promise<number> {
  return (
    await sql`
    delete from session half where half.user_id = ${userId} and half.stage = 'half'
      and (half.factor = 'email' or half.proven = 'code' or ${isEmailBeforeApp(sql, sql`half`)})`
  ).count;
}

/**
 * A condition: the sign-in's connection still admits people, or, for a password, no domain of the user requires single
 * sign-on, and no customer a passkey. All may have changed since the first factor.
 */
export function isStillAWayIn(sql: Connection, { connectionId, userId }: Record<'connectionId' | 'userId', Fragment>) {
  return sql`(
    case when ${connectionId} is null then not ${isSsoRequiredOf(sql, userId)} and not ${isPasskeyRequiredOf(sql, userId)}
    else exists (
      select from sso_connection way join customer owner on owner.id = way.customer_id
      where way.id = ${connectionId} and way.active and owner.active)
    end)`;
}
