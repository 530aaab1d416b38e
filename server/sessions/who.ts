import type { Connection, Database } from '../database/database.ts';
import { rowOrNull } from '../database/database.ts';
import type { Deps } from '../deps.ts';
import { second } from '../limits.ts';
import { admits } from '../people/customer.ts';
import { findOpenFactor, type HalfSession } from './half-session.ts';
import { type FullSession, type SessionStage, updateSessionSeen } from './session.ts';

/** A session's last use is written at most this often, so that its idle time still ends to the second. */
const sessionTouchEvery = second;

/** Who a visitor is: what their session token stands for, as seen from an address. */
export type Who =
  | { kind: 'half'; half: HalfSession }
  | { kind: 'full'; session: FullSession }
  /**
   * Over, but still stored: expired, unused for too long, or no longer open to this user, sign-in method or address.
   * `username` only of a half session that expired.
   */
  | { kind: 'ended'; username: string | null }
  /** No session is stored under the token. */
  | { kind: 'nobody' };

/** Who has a session token, at an address; marks a full session as used. The networks of customers are checked every time. */
export async function whoHas(deps: Deps, tokenHash: Buffer, address: string): Promise<Who> {
  const now = deps.now();
  const session = await fullSessionOf(deps, { tokenHash, address });
  if (session === null) return await findHalfOrEndedSession(deps.sql, { tokenHash, address }, now);
  if (now.getTime() - session.lastSeenAt.getTime() >= sessionTouchEvery)
    await updateSessionSeen(deps.sql, tokenHash, now);
  return { kind: 'full', session };
}

type CheckDeps = Pick<Deps, 'sql' | 'config' | 'now'>;
type Check = { asked: AskedSession; done: (session: FullSession | null) => void; failed: (error: unknown) => void };

/** Those asked for in this round of the event loop. */
const checks = new WeakMap<Database, Check[]>();

/** The session check, which counts as no use. Those of one round of the event loop are one statement. */
export function fullSessionOf(deps: CheckDeps, asked: AskedSession): Promise<FullSession | null> {
  return new Promise((done, failed) => {
    const waiting = checks.get(deps.sql);
    if (waiting) return void waiting.push({ asked, done, failed });
    checks.set(deps.sql, [{ asked, done, failed }]);
    setImmediate(checkAll, deps);
  });
}

async function checkAll({ sql, config, now }: CheckDeps): Promise<void> {
  const all = checks.get(sql) ?? [];
  checks.delete(sql);
  const at = now();
  const idleSince = new Date(at.getTime() - config.sessionIdle);
  try {
    const asked = all.map((check) => check.asked);
    const sessions = await findFullSessions(sql, asked, { idleSince, now: at });
    for (const [index, { done }] of all.entries()) done(sessions[index] ?? null);
  } catch (error) {
    for (const { failed } of all) failed(error);
  }
}

type AskedSession = { tokenHash: Buffer; address: string };

/** `idleSince`: full sessions last used before it count as ended. */
type At = { idleSince: Date; now: Date };

/** The session check, of several at once: the full session of each, or null. A row for each customer that one is open for. */
export async function findFullSessions(
  sql: Connection,
  asked: readonly AskedSession[],
  { idleSince, now }: At,
): Promise<(FullSession | null)[]> {
  const hashes = asked.map(({ tokenHash }) => tokenHash);
  const addresses = asked.map(({ address }) => address);
  const rows = await sql<(Omit<FullSession, 'customers'> & { at: number; customer: string })[]>`
    select a.at, s.id, s.user_id as "userId", s.connection_id as "connectionId", u.username, u.email, u.name,
      u.language, s.proof, s.proven_at as "provenAt", s.created_at as "createdAt", s.last_seen_at as "lastSeenAt", s.ends_at as "endsAt",
      c.key as customer, array(select c.key || ':' || own.name from unnest(m.groups) as own (name)) as groups
    from unnest(${hashes}::bytea[], ${addresses}::inet[]) with ordinality as a (token_hash, address, at)
      join session s on s.token_hash = a.token_hash
      join portal_user u on u.id = s.user_id
      join membership m on m.user_id = u.id
      join customer c on c.id = m.customer_id
    where s.stage = 'full' and s.ends_at > ${now} and s.last_seen_at > ${idleSince}
      and u.active and c.active and c.id = any(s.customer_ids)
      and (s.connection_id is null or (select active from sso_connection where id = s.connection_id))
      and (s.passkey_id is null or c.passkeys <> 'off')
      and ${admits(sql, sql`c.allowed_networks`, sql`a.address`)}`;
  return asked.map((_, index) => {
    const own = rows.filter(({ at }) => at === index + 1);
    const [row] = own;
    if (!row) return null;
    const { at: __, customer: ___, ...session } = row;
    const customers = own.map(({ customer }) => customer).sort();
    return { ...session, customers, groups: own.flatMap(({ groups }) => groups).sort() };
  });
}

type Row = Omit<HalfSession, 'factor' | 'mustRegister'> & {
  stage: SessionStage;
  /** The user is active, and the connection, if it has one. */
  isOpen: boolean;
};

/** What a token stands for that has no full session. */
async function findHalfOrEndedSession(sql: Connection, { tokenHash, address }: AskedSession, now: Date): Promise<Who> {
  const row = await rowOrNull(sql<Row[]>`
    select s.stage, s.id, s.user_id as "userId", s.connection_id as "connectionId", u.username, u.email, u.language,
      s.code_tries as "codeTries", s.waits_for as "waitsFor", s.created_at as "createdAt", s.ends_at as "endsAt",
      u.active and (s.connection_id is null or by_connection.active) as "isOpen",
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
      left join sso_connection by_connection on by_connection.id = s.connection_id
    where s.token_hash = ${tokenHash}`);
  if (row === null) return { kind: 'nobody' };
  const { stage, isOpen, ...session } = row;
  if (stage === 'full') return { kind: 'ended', username: null };
  if (session.endsAt <= now) return { kind: 'ended', username: session.username };
  const open = isOpen && session.customers.length > 0 ? await findOpenFactor(sql, session.id) : null;
  return open?.stillAdmits ? { kind: 'half', half: { ...session, ...open } } : { kind: 'ended', username: null };
}
