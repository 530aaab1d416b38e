import { type AccountVisit, accountVisitOf } from '../account/account-visit.ts';
import type { By } from '../audit/audit-events.ts';
import { referenceOfRequest } from '../audit/reference.ts';
import { type Connection, type Database, rowOrNull } from '../database/database.ts';
import { deskDatabase, deskRole } from '../database/desk-role.ts';
import { patientRead } from '../database/large-tables.ts';
import type { Deps } from '../deps.ts';
import { second } from '../limits.ts';
import type { Visitor } from '../sessions/visitor.ts';
import type { Actor } from './may-act.ts';

/** Somebody with a role on a page of the desk. */
export type DeskVisit = {
  visit: AccountVisit;
  actor: Actor;
  /** The database as they see it: of an administrator, PostgreSQL shows and changes their own customers' rows only. */
  sql: Database;
  /** The ids of their customers; null for whoever acts for all. */
  scope: readonly string[] | null;
  /** Who does something here, and when, for its event. */
  by: By;
};

/** The visit of a full session with a role at the desk; null for anybody else, for whom there is no desk. */
export async function deskVisitOf(deps: Deps, visitor: Visitor): Promise<DeskVisit | null> {
  const visit = await accountVisitOf(deps, visitor);
  // A provider that speaks for a part of the account does not say that its person may act for others.
  if (!visit || visit.account.isPart) return null;
  const actor = await findActor(deps, visit);
  if (!actor) return null;
  const scope = actor.role === null ? actor.customers.map(({ id }) => id) : null;
  const { requestId, address } = visitor;
  const who = { actor: `user:${actor.username}`, requestId, reference: referenceOfRequest(requestId), address };
  const by = { ...who, now: deps.now() };
  return { visit, actor, scope, by, sql: scope === null ? deps.sql : deskDatabase(deps.sql, scope) };
}

/** Administrators act for the customers that their session is open for, and where PostgreSQL holds them to these. */
async function findActor({ sql }: Deps, { session }: AccountVisit): Promise<Actor | null> {
  const actor = await rowOrNull(sql<Actor[]>`
    select u.id as "userId", u.username, coalesce(u.name, u.username) as name, u.role,
      (
        select coalesce(jsonb_agg(jsonb_build_object('id', c.id, 'key', c.key, 'name', c.name) order by c.name), '[]')
        from membership m join customer c on c.id = m.customer_id
        where m.user_id = u.id and m.administers and c.key = any(${session.customers}::text[])
          and exists (select from pg_roles where rolname = ${deskRole} and pg_has_role(oid, 'member'))
      ) as customers
    from portal_user u where u.id = ${session.userId}`);
  return actor && (actor.role !== null || actor.customers.length > 0) ? actor : null;
}

/** In milliseconds: whoever asks for more narrows it down. */
const deskWaits = 5 * second;
/** The last read of each person with a role in this process, and of the administrators of the same customers, by their ids. */
const reads = new Map<string, Promise<unknown>>();

/** A read through a large table. Those of one of these wait for each other: nobody at the desk takes the connections that sign-ins need. */
export async function largeRead<T>(desk: DeskVisit, read: (sql: Connection) => PromiseLike<T>): Promise<T> {
  const { sql, actor, scope } = desk;
  // An administrator could add as many others as there are connections.
  const whose = scope?.join() ?? actor.userId;
  const mine = (reads.get(whose) ?? Promise.resolve())
    .catch(() => undefined)
    .then(() => patientRead(sql, read, deskWaits));
  reads.set(whose, mine);
  return await mine.finally(() => reads.get(whose) === mine && reads.delete(whose));
}
