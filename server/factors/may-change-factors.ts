import type { Connection, Fragment } from '../database/database.ts';
import type { Deps } from '../deps.ts';
import { limits } from '../limits.ts';
import type { Customer } from '../people/customer.ts';
import type { Asked } from '../people/sign-in-policy.ts';
import { hasEmailToProve, isEmailConfirmed, isSsoRequiredOf } from '../people/sign-in-policy.ts';
import type { FullSession, SessionStage } from '../sessions/session.ts';

/**
 * Whether a session may set up a factor, which counts for the whole account, or why not: the user has to sign in again, or with
 * their passkey, or where all customers that ask for a factor admit them; or a provider's session speaks for less.
 */
export type MayChangeFactors = 'may' | MayNotChangeFactors;
export type MayNotChangeFactors = 'signInAgain' | 'byPasskey' | 'network' | 'notFromProvider';

/**
 * The session of the user's own password or passkey may once it has proven all that is asked: who knows the password alone could
 * otherwise replace what stands beside it. A provider's session may only where the account is its customer's alone and has no
 * password (nor a passkey, then): to anybody else it would open more than the provider vouches for.
 */
export function mayChangeFactors(session: SessionOfAccount, account: AccountOfSession, now: Date): MayChangeFactors {
  const { connectionId, stage, proof, customerIds } = session;
  if (connectionId !== null) {
    const isWhole = account.customers.every(({ id }) => id === account.connectionCustomerId);
    if (!isWhole || account.hasPassword) return 'notFromProvider';
  }
  // What else is asked comes before it in what the session waits for.
  if (stage === 'half') return session.waitsFor[0] === 'passkey' ? 'byPasskey' : 'may';
  const asking = account.customers.filter(({ twoFactor }) => twoFactor !== 'off');
  const isAsked = asking.length > 0 || account.isEmailConfirmed;
  // To a customer that takes no passkeys, one proves nothing.
  const isPasskeyTaken = asking.every(({ passkeys }) => passkeys !== 'off');
  const isProven = !isAsked || connectionId !== null || proof === 'code' || (proof === 'passkey' && isPasskeyTaken);
  // A sign-in from here would ask for nothing either.
  const isLeftOut = !asking.some(({ id }) => customerIds.includes(id));
  if (!isProven && proof !== 'passkey' && !account.isEmailConfirmed && isLeftOut) return 'network';
  return isProven && isFreshProof(session, now) ? 'may' : 'signInAgain';
}

/**
 * Whether a session has just proven who it is, at its sign-in or since: a remembered device replaces the code at a sign-in, but
 * not when another factor is set up. Returning from a provider that did not ask proves nothing, nor does a time further ahead than
 * clock skew allows.
 */
export function isFreshProof({ proof, provenAt }: Pick<FullSession, 'proof' | 'provenAt'>, now: Date): boolean {
  if (provenAt === null || proof === 'remembered') return false;
  const age = now.getTime() - provenAt.getTime();
  return age >= -limits.providerClock && age <= limits.freshSignIn;
}

/** Of a session, what its right to set up a factor depends on. */
export type SessionOfAccount = Pick<FullSession, 'connectionId' | 'proof' | 'provenAt'> & {
  stage: SessionStage;
  waitsFor: Asked[];
  customerIds: string[];
};

/** Of its user's account, likewise. A disabled customer is one of them: it may be enabled again. */
export type AccountOfSession = {
  /** Of their own, that signs in. */
  hasPassword: boolean;
  isEmailConfirmed: boolean;
  customers: Pick<Customer, 'id' | 'twoFactor' | 'passkeys'>[];
  connectionCustomerId: string | null;
};

/** The same for a stored session, as things are; its caller has found it. */
export async function findMayChangeFactors(
  { now }: Pick<Deps, 'now'>,
  sql: Connection,
  sessionId: string,
): Promise<MayChangeFactors> {
  const [row] = await sql<(SessionOfAccount & AccountOfSession)[]>`
    select s.stage, s.connection_id as "connectionId", s.proof, s.proven_at as "provenAt", s.waits_for as "waitsFor",
      s.customer_ids as "customerIds",
      ${hasOwnPassword(sql, sql`u.id`)} as "hasPassword",
      ${isEmailConfirmed(sql, sql`u.id`)} as "isEmailConfirmed",
      (select customer_id from sso_connection where id = s.connection_id) as "connectionCustomerId",
      (
        select coalesce(jsonb_agg(jsonb_build_object('id', c.id, 'twoFactor', c.two_factor, 'passkeys', c.passkeys)), '[]')
        from membership m join customer c on c.id = m.customer_id where m.user_id = u.id
      ) as customers
    from session s join portal_user u on u.id = s.user_id
    where s.id = ${sessionId}`;
  return row ? mayChangeFactors(row, row, now()) : 'signInAgain';
}

/** Full sessions of a user stay, but a code that they have proven no longer counts for another factor. */
export async function updateProvenByCode(sql: Connection, userId: string): Promise<void> {
  await sql`
    update session set proof = 'remembered' where user_id = ${userId} and stage = 'full' and proof = 'code'`;
}

/** A condition on a session `s`: it comes from a connection and may not set up a factor. */
export function speaksForLess(sql: Connection, s: Fragment): Fragment {
  return sql`(
    ${s}.connection_id is not null and (${isElsewhere(sql, s)} or ${hasOwnPassword(sql, sql`${s}.user_id`)}))`;
}

function isElsewhere(sql: Connection, s: Fragment): Fragment {
  return sql`
    exists (
      select from membership m
      where m.user_id = ${s}.user_id and m.customer_id is distinct from (select customer_id from sso_connection where id = ${s}.connection_id)
    )`;
}

function hasOwnPassword(sql: Connection, userId: Fragment): Fragment {
  return sql`
    exists (
      select from portal_user whose
      where whose.id = ${userId} and whose.password_hash is not null and not ${isSsoRequiredOf(sql, sql`whose.id`)}
    )`;
}

/** Whether a user can sign in without a provider. */
export async function hasOwnSignIn(sql: Connection, userId: string): Promise<boolean> {
  return (await sql`select where ${hasOwnPassword(sql, sql`${userId}::uuid`)}`).length > 0;
}

/** What a user can prove, and set up, at a sign-in. */
export type FactorsOfUser = {
  hasApp: boolean;
  /** A code by email has reached them before. */
  isEmailConfirmed: boolean;
  /** The same, or one of their customers requires such codes, even while it is disabled. */
  hasEmailToProve: boolean;
  /** A passkey that one of their customers takes for the app that it requires. */
  hasPasskeyForApp: boolean;
  /** False at a provider that speaks for less than the whole account. */
  maySetUp: boolean;
};

/** Of a sign-in by a connection, or by password: null. `rpId`: what usable passkeys are made for. */
export async function findFactorsOfUser(
  sql: Connection,
  userId: string,
  { connectionId, rpId }: { connectionId: string | null; rpId: string | null },
): Promise<FactorsOfUser> {
  const [row] = await sql<[FactorsOfUser]>`
    select exists (select from totp where totp.user_id = s.user_id) as "hasApp",
      ${isEmailConfirmed(sql, sql`s.user_id`)} as "isEmailConfirmed",
      ${hasEmailToProve(sql, sql`s.user_id`)} as "hasEmailToProve",
      not ${speaksForLess(sql, sql`s`)} as "maySetUp",
      s.connection_id is null
        and exists (select from passkey p where p.user_id = s.user_id and p.rp_id = ${rpId}::text)
        and exists (
          select from membership m join customer c on c.id = m.customer_id
          where m.user_id = s.user_id and c.two_factor = 'app' and c.passkeys <> 'off'
        ) as "hasPasskeyForApp"
    from (values (${userId}::uuid, ${connectionId}::uuid)) as s (user_id, connection_id)`;
  return row;
}
