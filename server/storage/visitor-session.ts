import { admits } from './admits.ts';
import type { Connection } from './database.ts';
import { openFactorOf } from './email-before-app.ts';
import { type HalfSession, isStillAWayIn } from './half-session.ts';
import type { FullSession, SessionStage } from './session.ts';

/** What a session token stands for, as seen from an address. */
export type VisitorSession =
  | { kind: 'half'; half: HalfSession }
  | { kind: 'full'; session: FullSession }
  /**
   * Over: expired, unused for too long, or no longer open to this user, sign-in method or address. `username` only if a
   * half session expired and is still stored; `isSignOut`: one that its browser, its provider or an
   * operator signed out.
   */
  | { kind: 'ended'; username: string | null; isSignOut: boolean };

type Row = Omit<HalfSession, 'customers'> &
  Omit<FullSession, 'customers'> & {
    /** Null if no session is stored under the token. */
    stage: SessionStage | null;
    isInTime: boolean;
    isOpen: boolean;
    isSignedOut: boolean;
    customers: HalfSession['customers'];
  };

/** Reads what a token stands for, in one statement. `idleSince`: full sessions last used before it count as ended. */
export async function findVisitorSession(
  sql: Connection,
  tokenHash: Buffer,
  { address, idleSince, now }: { address: string; idleSince: Date; now: Date },
): Promise<VisitorSession> {
  const [row] = await sql<[Row]>`
    select s.stage, s.id, u.id as "userId", s.connection_id as "connectionId", u.username, u.email, u.language,
      ${openFactorOf(sql, sql`s`)}, s.proven, s.code_tries as "codeTries",
      s.created_at as "createdAt", s.last_seen_at as "lastSeenAt", s.ends_at as "endsAt",
      s.proof, s.proven_at as "provenAt",
      s.ends_at > ${now} as "isInTime",
      u.active and case s.stage
        when 'half' then ${isStillAWayIn(sql, { connectionId: sql`s.connection_id`, userId: sql`u.id` })}
        else s.last_seen_at > ${idleSince} and (s.connection_id is null
          or exists (select from sso_connection way where way.id = s.connection_id and way.active))
        end as "isOpen",
      exists (select from ended_session where token_hash = ${tokenHash} and ends_at > ${now}) as "isSignedOut",
      (
        select coalesce(jsonb_agg(jsonb_build_object('id', c.id, 'key', c.key,
          'rememberDevices', c.remember_devices or c.two_factor = 'off', 'takesPasskeys', c.passkeys <> 'off') order by c.key), '[]')
        from membership m join customer c on c.id = m.customer_id
        where m.user_id = s.user_id and c.id = any(s.customer_ids) and c.active
          and (s.passkey_id is null or c.passkeys <> 'off')
          and ${admits(sql, sql`c.allowed_networks`, address)}
      ) as customers
    from (values (${tokenHash}::bytea)) as asked (hash)
      left join session s on s.token_hash = asked.hash left join portal_user u on u.id = s.user_id`;
  const { stage, isInTime, isOpen, isSignedOut, customers, ...rest } = row;
  if (stage === null) return { kind: 'ended', username: null, isSignOut: isSignedOut };
  if (!isInTime) return { kind: 'ended', username: stage === 'half' ? rest.username : null, isSignOut: false };
  if (!isOpen || customers.length === 0) return { kind: 'ended', username: null, isSignOut: false };
  if (stage === 'half') return { kind: 'half', half: { ...rest, customers } };
  return { kind: 'full', session: { ...rest, customers: customers.map(({ key }) => key) } };
}
