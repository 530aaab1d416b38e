// What one sign-in reads and writes, across tables, in one round trip each: beside the password hash there is little
// time to lose (docs/decisions/0005).

import type { AuditEvent } from '../audit/audit-events.ts';
import { referenceOfRequest } from '../audit/reference.ts';
import { limits } from '../limits.ts';
import { admits } from './admits.ts';
import type { Customer } from './customer.ts';
import type { Connection } from './database.ts';
import { notOvertaken } from './not-overtaken.ts';
import { hasManySessions } from './oldest-sessions.ts';
import { isPasskeyRequiredOf } from './passkey-policy.ts';
import { replacedBySignIn, replacedFull } from './replaced-session.ts';
import { rowOrNull } from './row-or-null.ts';
import type { NewSession, SessionStage } from './session.ts';
import { isSsoRequiredOf } from './sso-domain.ts';
import { limitArguments, originLimitRows } from './throttle.ts';
import type { ThrottleKey } from './throttle-keys.ts';

export type SignInUser = {
  id: string;
  username: string;
  email: string;
  language: string | null;
  passwordHash: string | null;
  active: boolean;
  /** Whether an authenticator app is registered. */
  hasApp: boolean;
  /** The version of the state that its factors were read from. */
  factorVersion: number;
  /** Whether the domain of one of the names signs in only by single sign-on. */
  ssoRequired: boolean;
  /** Whether a customer takes passkeys only. */
  passkeyRequired: boolean;
  customers: SignInCustomer[];
};

/** An active customer of the user; `admits` says whether its networks allow the address. */
export type SignInCustomer = Pick<Customer, 'id' | 'key' | 'twoFactor' | 'newDeviceMail' | 'rememberDevices'> & {
  admits: boolean;
};

export type SignInAttempt = {
  user: SignInUser | null;
  /** The user's password was right in this browser before; it has its own attempts. */
  deviceKnown: boolean;
  /** Set if the address, its network or everyone has to wait; then nothing was counted. */
  originBlockedUntil: Date | null;
  /** One more session of the user by a password ends others (storage/oldest-sessions.ts). */
  hasManySessions: boolean;
  /** The attempt is counted and may continue. */
  admitted: boolean;
};

/**
 * Finds the user of a folded name and counts the attempt under one key before the password is checked: the user's
 * account, the name if there is no user, or the device if it is known. The count is only lost if the database's machine
 * dies within a fraction of a second, so the commit does not wait for the disk.
 */
export async function beginSignIn(
  sql: Connection,
  attempt: {
    fold: string;
    unknownNameKey: string;
    originKeys: readonly ThrottleKey[];
    address: string;
    deviceHash: Buffer | null;
    guess: Buffer;
    now: Date;
  },
): Promise<SignInAttempt> {
  const { account, address, device } = limits.throttle;
  const deviceSince = new Date(attempt.now.getTime() - limits.deviceLifetime);
  const [row] = await sql<(SignInUser & Omit<SignInAttempt, 'user'>)[]>`
    with quick as materialized (select set_config('synchronous_commit', 'off', true)),
    given as materialized (
      select ${attempt.now}::timestamptz as now, ${attempt.guess}::bytea as guess, ${attempt.deviceHash}::bytea as device_hash
    ),
    found as (
      select u.id, u.username, u.email, u.language, u.password_hash, u.active, u.factor_version
      from login_name n join portal_user u on u.id = n.user_id where n.fold = ${attempt.fold}
    ),
    known as materialized (
      select coalesce(bool_or(d.by_password), false) as device
      from given cross join found
        join device d on d.user_id = found.id and d.token_hash = given.device_hash and d.last_used_at > ${deviceSince}
    ),
    origin as materialized (
      select key, free, leak, first, longest, t.blocked_until, t.failures >= free and key <> 'total' as spent
      from unnest(${attempt.originKeys.map(({ key }) => key)}::text[]) as k (key)
      join throttle t using (key) join ${originLimitRows(sql)} on l.kind = split_part(key, ':', 1)
    ),
    waiting as materialized (select max(blocked_until) as until from origin, given where blocked_until > now),
    -- A spent origin gets one try after each wait, not as many as are sent side by side.
    turn as materialized (
      select coalesce(bool_and(throttle_attempt(key, null, now, free, leak, first, longest)), true) as won
      from given, (
        select * from origin where spent and not (select device from known) and (select until from waiting) is null
        order by key
      ) as spent
    ),
    blocked as (
      select case when not turn.won then now + make_interval(secs => ${sql.unsafe(String(address.firstWait / 1000))}) else waiting.until end as until
      from given, waiting, turn
    )
    select found.id, found.username, found.email, found.language, found.password_hash as "passwordHash", found.active,
      exists (select from totp where totp.user_id = found.id) as "hasApp", found.factor_version as "factorVersion",
      ${isSsoRequiredOf(sql, sql`found.id`)} as "ssoRequired",
      ${isPasskeyRequiredOf(sql, sql`found.id`)} as "passkeyRequired",
      ${hasManySessions(sql, { userId: sql`found.id`, connectionId: null, address: attempt.address })} as "hasManySessions",
      known.device as "deviceKnown",
      case when not known.device then blocked.until end as "originBlockedUntil",
      case
        when known.device then throttle_attempt('device:' || encode(device_hash, 'hex') || ':' || found.id, guess, now,
          ${limitArguments(sql, device)})
        when blocked.until is not null then false
        else throttle_attempt(coalesce('account:' || found.id, ${attempt.unknownNameKey}), guess, now,
          ${limitArguments(sql, account)})
      end as admitted,
      (
        select coalesce(jsonb_agg(jsonb_build_object('id', c.id, 'key', c.key, 'twoFactor', c.two_factor,
          'newDeviceMail', c.new_device_mail, 'rememberDevices', c.remember_devices, 'admits',
          ${admits(sql, sql`c.allowed_networks`, attempt.address)}) order by c.key), '[]')
        from membership m join customer c on c.id = m.customer_id
        where m.user_id = found.id and c.active
      ) as customers
    from quick cross join given cross join known cross join blocked left join found on true`;
  if (!row) throw new Error('a sign-in attempt always yields one row');
  const { deviceKnown, originBlockedUntil, hasManySessions: isMany, admitted, ...user } = row;
  const found = user.id === null ? null : user;
  return { user: found, deviceKnown, originBlockedUntil, hasManySessions: isMany, admitted };
}

/** A user's current second factor, and where codes are sent; null if the user is gone. */
export async function findFactorsOfUser(sql: Connection, userId: string) {
  return await rowOrNull(sql<Pick<SignInUser, 'email' | 'hasApp' | 'factorVersion'>[]>`
    select email, exists (select from totp where user_id = ${userId}) as "hasApp", factor_version as "factorVersion"
    from portal_user where id = ${userId}`);
}

/** Records a refused sign-in and counts it under the keys of its origin. */
export async function insertRefusal(
  sql: Connection,
  event: AuditEvent,
  keys: readonly ThrottleKey[],
  now: Date,
): Promise<void> {
  await sql`
    with quick as materialized (select set_config('synchronous_commit', 'off', true)),
    counted as materialized (
      select throttle_attempt(key, null, ${now}, free, leak, first, longest, true)
      from (
        select key, free, leak, first, longest
        from unnest(${keys.map(({ key }) => key)}::text[]) with ordinality as k (key, place)
        join ${originLimitRows(sql)} on l.kind = split_part(key, ':', 1)
        order by place
      ) as origin
    )
    insert into audit_event (at, event, reason, reference, user_id, username, customer_key, address, request_id, steps)
    select ${now}, ${event.event}, ${event.reason ?? null}, ${event.reference ?? null}, ${event.userId ?? null}::uuid,
      ${event.username ?? null}, ${event.customerKey ?? null}, ${event.address ?? null}::inet, ${event.requestId ?? null}, ${JSON.stringify(event.steps ?? [])}::jsonb
    from quick where (select count(*) from counted) >= 0`;
}

/**
 * Records an event at most once a minute under a key, so that a flood cannot fill the table. Returns the reference of
 * the request that is recorded: this one, or the one within the minute before.
 */
export async function insertEventOnceAMinute(
  sql: Connection,
  event: AuditEvent & { requestId: string },
  under: string,
  now: Date,
): Promise<string> {
  const key = `recorded:${under}`;
  // In the column of a guess: what tells the recorded request from all others.
  const mark = Buffer.from(event.requestId.replaceAll('-', '').slice(0, 16), 'hex');
  const { count } = await sql`
    insert into audit_event (at, event, reason, user_id, username, customer_key, connection, address, request_id, steps)
    select ${now}, ${event.event}, ${event.reason ?? null}, ${event.userId ?? null}::uuid, ${event.username ?? null},
      ${event.customerKey ?? null},
      coalesce(${event.connection ?? null}, (select key from sso_connection where id = ${event.connectionId ?? null}::uuid)),
      ${event.address ?? null}::inet, ${event.requestId},
      ${JSON.stringify(event.steps ?? [])}::jsonb
    where throttle_attempt(${key}, ${mark}, ${now}, 1, 60, 60, 60)`;
  if (count > 0) return referenceOfRequest(event.requestId);
  const [row] = await sql<
    { lastGuess: Buffer | null }[]
  >`select last_guess as "lastGuess" from throttle where key = ${key}`;
  return referenceOfRequest((row?.lastGuess ?? mark).toString('hex'));
}

type MadeByPassword = Pick<
  NewSession,
  'tokenHash' | 'userId' | 'waitsFor' | 'proven' | 'proof' | 'customerIds' | 'address' | 'browser' | 'now' | 'endsAt'
>;

/**
 * Creates the session for a right password in one transaction: the session and its event, the device; ends the waits of
 * account and device and the browser's previous session. Changes nothing if the user was deactivated or
 * got another password during the check, or is being changed now, or the browser has signed out (`changed`), or other
 * factors (`otherFactors`). It does not wait for who is being changed, since the rest of the statement would see the state
 * before: lock the user in a statement before it.
 */
export async function completeSignIn(
  sql: Connection,
  made: MadeByPassword & {
    verifiedHash: string;
    factorVersion: number;
    /** Of the session cookie that the browser presents, or what stands for it (visitor/turn-hash.ts). */
    replacedTokenHash: Buffer | null;
    /** Of the session cookie, if it stood for a session when the request began; if that was signed out since, nothing is stored. */
    unlessSignedOut: Buffer | null;
    /** Null for a half session: its browser is not known before the second factor. */
    deviceHash: Buffer | null;
    stage: SessionStage;
    /** Of the browser, for a half session (sign-in/browser-hash.ts); null for a full one. */
    browserHash: Buffer | null;
    /** Full sessions last used before it count as ended. */
    idleSince: Date;
    forgive: string[];
    event: AuditEvent;
  },
): Promise<'made' | 'changed' | 'otherFactors'> {
  const { event, now } = made;
  const [row] = await sql<{ made: boolean; otherFactors: boolean }[]>`
    with locked as materialized (
      select id, factor_version <> ${made.factorVersion} as other_factors from portal_user
      where id = ${made.userId} and active and password_hash = ${made.verifiedHash} for share skip locked
    ),
    who as materialized (
      select id, ${now}::timestamptz as now from locked where not other_factors
        and ${notOvertaken(sql, made)}
    ),
    replaced_full as materialized (
      ${replacedFull(sql, { tokenHash: made.stage === 'half' ? made.replacedTokenHash : null, userId: made.userId, now, idleSince: made.idleSince })}
    ),
    new_session as (
      insert into session (token_hash, former_token_hash, replaces, user_id, stage, factor, must_register, proven, customer_ids, address, browser, browser_hash, replaced_full, replaced_connection_id, sealed_replaced_id_token, replaced_subject_hash, replaced_session_hash, created_at, last_seen_at, ends_at, proof, proven_at)
      select ${made.tokenHash}, ${made.replacedTokenHash}::bytea, ${made.replacedTokenHash !== null}, id, ${made.stage}, ${made.waitsFor?.factor ?? null}, ${made.waitsFor?.mustRegister ?? false}, ${made.proven}, ${made.customerIds}::uuid[], ${made.address}::inet, ${made.browser}::text, ${made.browserHash}::bytea,
        exists (select from replaced_full), (select connection_id from replaced_full), (select sealed_id_token from replaced_full),
        (select subject_hash from replaced_full), (select session_hash from replaced_full), now, now, ${made.endsAt}, ${made.proof}, now
      from who returning user_id
    ),
    replaced as (
      delete from session where exists (select from new_session)
        and token_hash in (${replacedBySignIn(sql, { tokenHash: made.replacedTokenHash, userId: made.userId, now })})
      returning token_hash
    ),
    waits as materialized (
      select key from throttle where (select count(*) from replaced) >= 0 and key = any(${made.forgive}::text[])
      order by key for update
    ),
    device_seen as (
      insert into device as d (token_hash, user_id, last_used_at, by_password)
      select ${made.deviceHash}::bytea, id, now, true from who
      where ${made.deviceHash}::bytea is not null and (select count(*) from waits) >= 0
      on conflict (token_hash, user_id) do update set last_used_at = excluded.last_used_at
    ),
    -- Counting the rows of a part runs it to its end: what it locks is locked first.
    forgiven as (
      delete from throttle where exists (select from who) and key = any(${made.forgive}::text[])
        and (select count(*) from waits) >= 0
    ),
    recorded as (
      insert into audit_event (at, event, reason, user_id, username, customer_key, address, request_id, steps)
      select now, ${event.event}, ${event.reason ?? null}, id, ${event.username ?? null}, ${event.customerKey ?? null},
        ${event.address ?? null}::inet, ${event.requestId ?? null}, ${JSON.stringify(event.steps ?? [])}::jsonb
      from who where exists (select from new_session)
    )
    select exists (select from new_session) as made, exists (select from locked where other_factors) as "otherFactors"`;
  if (row?.made) return 'made';
  return row?.otherFactors ? 'otherFactors' : 'changed';
}
