import { insertAuditEvent } from '../audit/audit-event.ts';
import { type By, whoseEvent } from '../audit/audit-events.ts';
import type { Connection, Database } from '../database/database.ts';
import { foldLoginName } from '../names/read-name.ts';
import { deleteUser, findUserForUpdate, isLastOperator, type User } from '../people/portal-user.ts';
import { endSessionsOfUser } from '../sessions/end-sessions.ts';
import { deleteCodeThrottles, deleteThrottlesOfUser } from '../throttle/throttle.ts';

/** Does something to the user with a username or email, whose row is locked first; null if the user is unknown. */
export async function actOnUser<T>(sql: Database, name: string, act: (sql: Connection, user: User) => Promise<T>) {
  return await sql.begin(async (sql) => {
    const user = await findUserForUpdate(sql, foldLoginName(name));
    return user && (await act(sql, user));
  });
}

/** Ends the waits that failed sign-ins caused for a user's account, and records it; null if the user is unknown. */
export async function unlockUser(sql: Database, name: string, { now, ...who }: By): Promise<boolean | null> {
  return await actOnUser(sql, name, async (sql, user) => {
    await deleteThrottlesOfUser(sql, user.id);
    await deleteCodeThrottles(sql, user.id);
    await insertAuditEvent(sql, { event: 'user-unlocked', ...whoseEvent(user), ...who }, now);
    return true;
  });
}

/**
 * Ends every session of a user, half ones included, or only the one with an id, and records it. Returns how many; null if the
 * user is unknown.
 */
export async function signOutUser(sql: Database, name: string, by: By, id: string | null = null) {
  const { now, ...who } = by;
  return await actOnUser(sql, name, async (sql, user) => {
    const ended = await endSessionsOfUser(sql, user.id, { id });
    if (id !== null && ended === 0) return 0;
    const steps = [
      ...(id === null ? [] : [{ step: 'session', outcome: id }]),
      { step: 'sessions ended', outcome: String(ended) },
    ];
    await insertAuditEvent(sql, { event: 'user-signed-out', ...whoseEvent(user), steps, ...who }, now);
    return ended;
  });
}

/** Removes a user with sessions and memberships, and records it; false for the last operator, null if unknown. */
export async function removeUser(sql: Database, name: string, { now, ...who }: By): Promise<boolean | null> {
  return await actOnUser(sql, name, async (sql, user) => {
    if (await isLastOperator(sql, user)) return false;
    await deleteUser(sql, user.id);
    await insertAuditEvent(sql, { event: 'user-removed', ...whoseEvent(user), ...who }, now);
    return true;
  });
}
