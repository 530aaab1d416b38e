import { admits } from './admits.ts';
import type { Connection } from './database.ts';
import { findOpenFactor, type HalfSession } from './half-session.ts';
import { rowOrNull } from './row-or-null.ts';
import type { FullSession, SessionStage } from './session.ts';

/** What a session token stands for, as seen from an address. */
export type VisitorSession =
  | { kind: 'half'; half: HalfSession }
  | { kind: 'full'; session: FullSession }
  /**
   * Over, but still stored: expired, unused for too long, or no longer open to this user, sign-in method or address.
   * `username` only of a half session that expired.
   */
  | { kind: 'ended'; username: string | null }
  /** No session is stored under the token. */
  | { kind: 'nobody' };

type Row = Omit<FullSession, 'customers'> &
  Pick<HalfSession, 'codeTries' | 'waitsFor' | 'customers'> & {
    stage: SessionStage;
    /** The user is active, and the connection, if it has one. */
    isOpen: boolean;
  };

/** Reads what a token stands for. `idleSince`: full sessions last used before it count as ended. */
export async function findVisitorSession(
  sql: Connection,
  tokenHash: Buffer,
  { address, idleSince, now }: { address: string; idleSince: Date; now: Date },
): Promise<VisitorSession> {
  const row = await rowOrNull(sql<Row[]>`
    select s.stage, s.id, s.user_id as "userId", s.connection_id as "connectionId",
      u.username, u.email, u.language, s.proof, s.proven_at as "provenAt", s.code_tries as "codeTries", s.waits_for as "waitsFor",
      s.created_at as "createdAt", s.last_seen_at as "lastSeenAt", s.ends_at as "endsAt",
      u.active and (s.connection_id is null or way.active) as "isOpen",
      (
        select coalesce(jsonb_agg(jsonb_build_object('id', c.id, 'key', c.key,
          'rememberDevices', c.remember_devices or c.two_factor = 'off', 'takesPasskeys', c.passkeys <> 'off') order by c.key), '[]')
        from membership m join customer c on c.id = m.customer_id
        where m.user_id = s.user_id and c.id = any(s.customer_ids) and c.active
          and (s.passkey_id is null or c.passkeys <> 'off')
          and ${admits(sql, sql`c.allowed_networks`, address)}
      ) as customers
    from session s
      join portal_user u on u.id = s.user_id
      left join sso_connection way on way.id = s.connection_id
    where s.token_hash = ${tokenHash}`);
  if (row === null) return { kind: 'nobody' };
  const { stage, isOpen, customers, codeTries, waitsFor, ...session } = row;
  if (session.endsAt <= now) return { kind: 'ended', username: stage === 'half' ? session.username : null };
  if (!isOpen || customers.length === 0) return { kind: 'ended', username: null };
  if (stage === 'full') {
    if (session.lastSeenAt <= idleSince) return { kind: 'ended', username: null };
    return { kind: 'full', session: { ...session, customers: customers.map(({ key }) => key) } };
  }
  const open = await findOpenFactor(sql, session.id);
  if (!open?.isStillAWayIn) return { kind: 'ended', username: null };
  return { kind: 'half', half: { ...session, ...open, customers, codeTries, waitsFor } };
}
