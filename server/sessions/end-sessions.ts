import type { FastifyReply, FastifyRequest } from 'fastify';
import { callUrl } from '#contract/calls.ts';
import { insertAuditEvent } from '../audit/audit-event.ts';
import type { Connection } from '../database/database.ts';
import { rowOrNull } from '../database/database.ts';
import type { Deps } from '../deps.ts';
import { clearCookie, readCookie } from '../http/cookies.ts';
import { queryValue } from '../http/request-url.ts';
import { mustRegisterOf } from './half-session.ts';
import type { SessionStage } from './session.ts';
import { askForFreshSignIn, forgetVisits } from './visit.ts';
import { visitorOf } from './visitor.ts';

/** A session that its browser has ended: its user, and what its provider expects at sign-out. */
export type DeletedSession = {
  userId: string;
  username: string;
  stage: SessionStage;
  /** A half one that was to register its second factor. */
  mustRegister: boolean;
  /** Null for a password. */
  connectionId: string | null;
  sealedIdToken: Buffer | null;
};

async function deleteSession(sql: Connection, tokenHash: Buffer): Promise<DeletedSession | null> {
  return await rowOrNull(sql<DeletedSession[]>`
    delete from session s using portal_user u
    where s.token_hash = ${tokenHash} and u.id = s.user_id
    returning u.id as "userId", u.username, s.stage, ${mustRegisterOf(sql, sql`s`)} as "mustRegister",
      s.connection_id as "connectionId", s.sealed_id_token as "sealedIdToken"`);
}

type ListedSession = {
  id: string;
  /** As the browser named itself at the sign-in; null if unknown. */
  browser: string | null;
  address: string;
  signedInAt: Date;
  lastSeenAt: Date;
  endsAt: Date;
  /** The provider's name; null for a password or passkey. */
  provider: string | null;
  byPasskey: boolean;
};

/** Whose sessions; only those of a connection, or for one of these customers, if they are given. */
type Whose = { userId: string; connectionId?: string | null; customerIds?: readonly string[] | null };

/** The full sessions of a user that are alive, by their last use. */
export async function listSessionsOfUser(
  sql: Connection,
  { userId, connectionId = null, customerIds = null }: Whose,
  { now, idleSince }: { now: Date; idleSince: Date },
): Promise<ListedSession[]> {
  return await sql<ListedSession[]>`
    select s.id, s.browser, host(s.address) as address, s.created_at as "signedInAt", s.last_seen_at as "lastSeenAt",
      s.ends_at as "endsAt", by_connection.name as provider, s.passkey_id is not null as "byPasskey"
    from session s left join sso_connection by_connection on by_connection.id = s.connection_id
    where s.user_id = ${userId} and (${connectionId}::uuid is null or s.connection_id = ${connectionId}::uuid)
      and (${customerIds}::uuid[] is null or s.customer_ids && ${customerIds}::uuid[])
      and s.stage = 'full' and s.ends_at > ${now} and s.last_seen_at > ${idleSince}
    order by s.last_seen_at desc, s.id`;
}

/** Ends the sessions of a user of which all that is given is true, but not `kept`; returns how many. Lock the user first. */
export async function endSessionsOfUser(
  sql: Connection,
  userId: string,
  which: { id?: string | null; connectionId?: string | null; passkeyId?: string; kept?: string | null } = {},
): Promise<number> {
  const { id = null, connectionId = null, passkeyId = null, kept = null } = which;
  const { count } = await sql`
    delete from session
    where user_id = ${userId} and id is distinct from ${kept}::uuid
      and (${id}::uuid is null or id = ${id}::uuid)
      and (${connectionId}::uuid is null or connection_id = ${connectionId}::uuid)
      and (${passkeyId}::uuid is null or passkey_id = ${passkeyId}::uuid)`;
  return count;
}

/** Ends this browser's session and returns it, and forgets whoever was here; with `forgets`, the connection too. */
export async function signOutHere(
  deps: Deps,
  reply: FastifyReply,
  { forgets = false } = {},
): Promise<DeletedSession | null> {
  const { config } = deps;
  const { sessionHash, address, requestId } = visitorOf(deps, reply.request);
  const ended = sessionHash && (await deleteSession(deps.sql, sessionHash));
  await forgetVisits(deps, reply);
  if (ended) {
    const { userId, username } = ended;
    const event = { event: 'signed-out', userId, username, address, requestId } as const;
    await insertAuditEvent(deps.sql, event, deps.now());
  }
  // Also one that is sent twice, or that is no token: somebody may have planted it.
  clearCookie(reply, config, 'session');
  for (const name of ['reset', 'passkey'] as const)
    if (readCookie(reply.request.headers, config, name) !== null) clearCookie(reply, config, name);
  askForFreshSignIn(deps, reply, { forgets });
  return ended;
}

/** The page that names who is signed in and asks whether to sign out; what is undefined in its query is left out. */
export function signOutQuestionUrl(basePath: string, query: Record<string, string | undefined> = {}): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return `${callUrl(basePath, 'logout')}?${new URLSearchParams({ confirm: '', ...Object.fromEntries(given) })}`;
}

/** Whether that page is requested: whoever does, nobody is signed out. */
export function isSignOutQuestion(request: FastifyRequest): boolean {
  return queryValue(request, 'confirm') !== null;
}
