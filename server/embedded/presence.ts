import { setTimeout as pause } from 'node:timers/promises';
import { connect, isDatabaseAway } from '../storage/connect.ts';
import type { Database, Place } from '../storage/database.ts';

/**
 * One connection that each process using the built-in PostgreSQL holds. It has an advisory lock shared with the others,
 * and its end is how the process learns that PostgreSQL ended.
 */
export type Presence = Database;

/** The key of the advisory lock; any number that nothing else here locks. */
export const presenceLock = 7_374_110;

/** Registers this process. Null if PostgreSQL is not there or about to stop; `onGone` is called if it ends later. */
export async function enter(place: Place, onGone: () => void): Promise<Presence | null> {
  let entered = false;
  const presence = connect(place, {
    poolSize: 1,
    statementTimeout: 0,
    name: 'vestibule presence',
    onClose: () => entered && onGone(),
  });
  try {
    // Whoever stops PostgreSQL holds the lock exclusively until it ends, so nobody can slip in before that.
    await presence`select pg_advisory_lock_shared(${presenceLock})`;
    entered = true;
    return presence;
  } catch (error) {
    await presence.end();
    if (isDatabaseAway(error)) return null;
    throw error;
  }
}

/** Unregisters this process, and calls `stop` if no user is left and no other client is connected. */
export async function leave(presence: Presence, stop: () => Promise<void>): Promise<void> {
  try {
    await presence`select pg_advisory_unlock_shared(${presenceLock})`;
    const [row] = await presence<{ last: boolean }[]>`select pg_try_advisory_lock(${presenceLock}) as last`;
    if (row?.last && (await isAlone(presence))) await stop();
  } catch (error) {
    if (!isDatabaseAway(error)) throw error;
  } finally {
    await presence.end();
  }
}

/** The sessions of a pool that was just closed take a moment to end. */
async function isAlone(presence: Presence): Promise<boolean> {
  for (let attempt = 0; attempt < 15; attempt++) {
    const others = await presence`
      select from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()`;
    if (others.length === 0) return true;
    await pause(20);
  }
  return false;
}
