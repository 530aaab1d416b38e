import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../config/config.ts';
import { seal, unseal } from '../crypto/keys.ts';
import { newToken, tokenHash } from '../crypto/token.ts';
import { type Connection, rowOrNull } from '../database/database.ts';
import type { Deps } from '../deps.ts';
import { clearCookie, readCookie, readTokenCookie, setCookie } from '../http/cookies.ts';
import { day, limits } from '../limits.ts';

/** A visitor who was sent to a provider. It belongs to one browser and is used once. */
export type Visit = {
  id: string;
  /** SHA-256 of what the provider sends back: state, or RelayState. */
  stateHash: Buffer;
  /** SHA-256 of the token of the browser that began. */
  cookieHash: Buffer;
  connectionId: string;
  connectionVersion: number;
  sealedDetails: Buffer;
  madeAt: Date;
  endsAt: Date;
  usedAt: Date | null;
};

/** Binding (additional data) for the details of a visit. */
export function visitPlace(id: string): string {
  return `visit:${id}`;
}

const columns = (sql: Connection) => sql`
  id, state_hash as "stateHash", browser_hash as "cookieHash", connection_id as "connectionId",
  connection_version as "connectionVersion", sealed_details as "sealedDetails", made_at as "madeAt", ends_at as "endsAt",
  used_at as "usedAt"`;

/** Stores a visit; false if its connection is gone or was changed since it was read. */
export async function insertVisit(sql: Connection, visit: Omit<Visit, 'usedAt'>): Promise<boolean> {
  const { id, stateHash, cookieHash, connectionId, connectionVersion, sealedDetails, madeAt, endsAt } = visit;
  const { count } = await sql`
    insert into visit (id, state_hash, browser_hash, connection_id, connection_version, sealed_details, made_at, ends_at)
    select ${id}, ${stateHash}, ${cookieHash}, s.id, s.version, ${sealedDetails}, ${madeAt}::timestamptz, ${endsAt}::timestamptz
    from sso_connection s where s.id = ${connectionId} and s.version = ${connectionVersion}`;
  return count > 0;
}

export async function findVisit(sql: Connection, by: { id: string } | { stateHash: Buffer }): Promise<Visit | null> {
  const isMeant = 'id' in by ? sql`id = ${by.id}` : sql`state_hash = ${by.stateHash}`;
  return await rowOrNull(sql<Visit[]>`select ${columns(sql)} from visit where ${isMeant}`);
}

/** Uses an open visit in the browser that began it; null if there is none. Of several at once one gets it. */
export async function takeVisit(
  sql: Connection,
  { stateHash, cookieHash }: Pick<Visit, 'stateHash' | 'cookieHash'>,
  now: Date,
): Promise<Visit | null> {
  return await rowOrNull(sql<Visit[]>`
    update visit set used_at = ${now}
    where state_hash = ${stateHash} and browser_hash = ${cookieHash} and used_at is null and ends_at > ${now}
    returning ${columns(sql)}`);
}

/** Ends a visit whose answer another browser brought. */
export async function endVisit(sql: Connection, id: string, now: Date): Promise<void> {
  await sql`update visit set used_at = ${now} where id = ${id} and used_at is null`;
}

/** Whether a used visit may still open a session. Locks the connection and the browser's visits until the transaction ends. */
export async function lockVisit(
  sql: Connection,
  { id, cookieHash, connectionId, connectionVersion }: Visit,
): Promise<'counts' | 'ended' | 'disabled'> {
  const [connection] = await sql<{ version: number }[]>`
    select s.version from sso_connection s join customer c on c.id = s.customer_id
    where s.id = ${connectionId} and s.active and c.active for share of s`;
  if (!connection) return 'disabled';
  const visits = await sql<{ id: string }[]>`
    select id from visit where browser_hash = ${cookieHash} order by id for update`;
  const isThere = visits.some((visit) => visit.id === id);
  return isThere && connection.version === connectionVersion ? 'counts' : 'ended';
}

/**
 * Somebody signed in in a browser: its other visits sign in nobody. One that is being decided is gone; one still at the
 * provider is used, so that its tab is led on.
 */
export async function endVisitsOfBrowser(sql: Connection, cookieHash: Buffer, now: Date, kept?: string): Promise<void> {
  await sql`
    delete from visit where browser_hash = ${cookieHash} and used_at is not null and id is distinct from ${kept ?? null}::uuid`;
  await sql`update visit set used_at = ${now} where browser_hash = ${cookieHash} and used_at is null`;
}

/** The hash of the token by which this browser shows that it began its visits to providers; null if it has none. */
export function visitTokenHash({ headers }: FastifyRequest, config: Config): Buffer | null {
  const token = readTokenCookie(headers, config, 'visit');
  return token === null ? null : tokenHash(token);
}

/** Marks the browser that begins a visit; its tabs share the token. Returns the token's hash. */
export function markBrowser(reply: FastifyReply, config: Config): Buffer {
  const token = readTokenCookie(reply.request.headers, config, 'visit') ?? newToken();
  setCookie(reply, config, 'visit', token, limits.visit + limits.visitRemembered);
  return tokenHash(token);
}

/** Somebody signed in: an answer that comes later signs in nobody, and leads the tab on. */
export async function endVisits({ config, sql, now }: Deps, request: FastifyRequest): Promise<void> {
  const cookieHash = visitTokenHash(request, config);
  if (cookieHash) await endVisitsOfBrowser(sql, cookieHash, now());
}

/** Somebody signed out: nothing of their visits is left. */
export async function forgetVisits({ config, sql }: Deps, reply: FastifyReply): Promise<void> {
  const cookieHash = visitTokenHash(reply.request, config);
  if (cookieHash) await sql`delete from visit where browser_hash = ${cookieHash}`;
  if (readCookie(reply.request.headers, config, 'visit') !== null) clearCookie(reply, config, 'visit');
}

/** How long a browser remembers the connection of its last sign-in. */
const ssoConnectionRemembered = 180 * day;

/** Binding (additional data) for the cookie, which others can neither read nor forge. */
const place = 'remembered-connection';

/** What the cookie holds: the connection of the last sign-in, and whether somebody has signed out since the last visit to a provider. */
type Remembered = { id: string | null; freshSignIn: boolean };

/** Only for people who are signed in; a pending second factor may never be completed. */
export function rememberConnection(deps: Deps, reply: FastifyReply, id: string): void {
  remember(deps, reply, { id, freshSignIn: false });
}

/** After a failure the next click asks for an address again: otherwise a person at the wrong provider is stuck. */
export function forgetConnection(deps: Deps, reply: FastifyReply): void {
  const { id, freshSignIn } = remembered(deps, reply.request);
  if (id !== null) remember(deps, reply, { id: null, freshSignIn });
}

/** After a sign-out the next visit, to whichever provider, asks for a fresh sign-in, once. `forgets`: the connection, too. */
export function askForFreshSignIn(deps: Deps, reply: FastifyReply, { forgets }: { forgets: boolean }): void {
  remember(deps, reply, { id: forgets ? null : remembered(deps, reply.request).id, freshSignIn: true });
}

/** Whether a visit that begins now asks its provider for a fresh sign-in. */
export function asksForFreshSignIn(deps: Deps, request: FastifyRequest): boolean {
  return deps.config.freshAfterSignOut && remembered(deps, request).freshSignIn;
}

/** A visit has asked. */
export function freshSignInAsked(deps: Deps, reply: FastifyReply): void {
  const { id, freshSignIn } = remembered(deps, reply.request);
  if (freshSignIn) remember(deps, reply, { id, freshSignIn: false });
}

/** What this browser remembers of single sign-on. */
export function remembered({ config, keys }: Deps, request: FastifyRequest): Remembered {
  const value = readCookie(request.headers, config, 'connection');
  const text = value === null ? null : unseal(keys.seal, Buffer.from(value, 'base64url'), place);
  return text === null ? { id: null, freshSignIn: false } : (JSON.parse(text) as Remembered);
}

function remember({ config, keys }: Deps, reply: FastifyReply, what: Remembered): void {
  const value = seal(keys.seal, JSON.stringify(what), place).toString('base64url');
  setCookie(reply, config, 'connection', value, ssoConnectionRemembered);
}
