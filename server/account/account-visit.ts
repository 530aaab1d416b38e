import { accountFields } from '#contract/account.ts';
import type { Language } from '#contract/languages.ts';
import { type AuditEvent, customersOfEvent } from '../audit/audit-events.ts';
import { tokenHash } from '../crypto/token.ts';
import { type Connection, type Fragment, rowOrNull } from '../database/database.ts';
import type { Deps } from '../deps.ts';
import { speaksForLess } from '../factors/may-change-factors.ts';
import { findActiveUserForChange } from '../people/portal-user.ts';
import { hasEmailToProve, isSsoRequiredOf } from '../people/sign-in-policy.ts';
import { type FullSession, isSessionThereForUpdate } from '../sessions/session.ts';
import type { Visitor } from '../sessions/visitor.ts';

/** A signed-in person on their account page. */
export type AccountVisit = {
  visitor: Visitor;
  sessionToken: string;
  sessionHash: Buffer;
  session: FullSession;
  account: Account;
};

/** The visit of a full session; null if there is none, or it has ended meanwhile. */
export async function accountVisitOf(deps: Deps, visitor: Visitor): Promise<AccountVisit | null> {
  const who = await visitor.who();
  const { sessionToken } = visitor;
  if (who.kind !== 'full' || sessionToken === null) return null;
  const sessionHash = tokenHash(sessionToken);
  const { session } = who;
  const account = await findAccount(deps.sql, session.id, deps.now());
  return account && { visitor, sessionToken, sessionHash, session, account };
}

/** Whether a form is on a page of this session, and not of somebody who was signed in here before. */
export function isFormOf({ session }: AccountVisit, fields: Partial<Record<string, string>>): boolean {
  return fields[accountFields.sessionId] === session.id;
}

/** As a change of their account needs them. */
export type Person = { id: string; username: string; email: string; language: Language | null };

/** Locks the person of a visit, then their session, and returns the person; null if they are inactive, or it has ended. */
export async function personForChange(sql: Connection, { session, sessionHash }: AccountVisit): Promise<Person | null> {
  const person = await findActiveUserForChange(sql, session.userId);
  return person && (await isSessionThereForUpdate(sql, sessionHash)) ? person : null;
}

/** Who does something on their account page, and from where, for its event. */
export function personOf({ session, visitor }: AccountVisit): Omit<AuditEvent, 'event'> & { requestId: string } {
  const { userId, username, customers, connectionId } = session;
  return {
    userId,
    username,
    ...customersOfEvent(customers),
    ...(connectionId !== null && { connectionId }),
    address: visitor.address,
    requestId: visitor.requestId,
    actor: `user:${username}`,
  };
}

/** The account of a full session, as far as its account page depends on it. */
export type Account = {
  /** Whether there is a password that signs in: none counts in a domain with single sign-on only. */
  hasPassword: boolean;
  mayChangePassword: boolean;
  hasApp: boolean;
  /** When the app was confirmed; null without one. */
  appSince: Date | null;
  /** A customer of the user requires a second factor by an app. */
  isAppRequired: boolean;
  /** A code by email comes before the first app (docs/decisions/0014). */
  isEmailFirst: boolean;
  /** A customer of the user that requires a second factor takes no passkeys, a disabled one too: to it, one proves no code. */
  isPasskeyUntaken: boolean;
  recoveryCodesLeft: number;
  rememberedDevices: number;
  /** The session comes from a connection that speaks for a part of the account only (docs/decisions/0019). */
  isPart: boolean;
  /** Whether there is a desk for them. */
  hasDesk: boolean;
  /** The name of the connection that the session comes from; null for a password. */
  provider: string | null;
  /** The active customers of the session, with their names. */
  customers: { key: string; name: string }[];
};

async function findAccount(sql: Connection, sessionId: string, now: Date): Promise<Account | null> {
  return await rowOrNull(sql<Account[]>`
    select u.password_hash is not null and not ${isSsoRequiredOf(sql, sql`u.id`)} as "hasPassword",
      u.may_change_password as "mayChangePassword",
      t.user_id is not null as "hasApp", t.confirmed_at as "appSince",
      ${requiresApp(sql, sql`u.id`)} as "isAppRequired", ${hasEmailToProve(sql, sql`u.id`)} as "isEmailFirst",
      exists (
        select from membership m join customer c on c.id = m.customer_id
        where m.user_id = u.id and c.two_factor <> 'off' and c.passkeys = 'off'
      ) as "isPasskeyUntaken",
      (select count(*)::int from recovery_code where user_id = u.id and used_at is null) as "recoveryCodesLeft",
      (select count(*)::int from remembered_device where user_id = u.id and ends_at > ${now}) as "rememberedDevices",
      ${speaksForLess(sql, sql`s`)} as "isPart",
      (select name from sso_connection where id = s.connection_id) as provider,
      u.role is not null or exists (select from membership where user_id = u.id and administers) as "hasDesk",
      (
        select coalesce(jsonb_agg(jsonb_build_object('key', c.key, 'name', c.name) order by c.name), '[]')
        from membership m join customer c on c.id = m.customer_id
        where m.user_id = u.id and c.active and c.id = any(s.customer_ids)
      ) as customers
    from session s join portal_user u on u.id = s.user_id left join totp t on t.user_id = u.id
    where s.id = ${sessionId}`);
}

/** Whether a customer of a user requires an app, a disabled one too: it may be enabled again. */
export async function isAppRequired(sql: Connection, userId: string): Promise<boolean> {
  return (await sql`select where ${requiresApp(sql, sql`${userId}::uuid`)}`).length > 0;
}

function requiresApp(sql: Connection, userId: Fragment): Fragment {
  return sql`exists (
    select from membership m join customer c on c.id = m.customer_id
    where m.user_id = ${userId} and c.two_factor = 'app')`;
}
