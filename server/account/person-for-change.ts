import type { Connection } from '../storage/database.ts';
import { findActiveUserForChange } from '../storage/portal-user.ts';
import { isSessionThereForUpdate } from '../storage/session.ts';
import type { AccountVisit } from './account-visit.ts';

/**
 * Locks the person of a visit and then their session until the transaction ends, and returns the person; null if they are
 * inactive by now, or the session has ended or goes by another token.
 */
export async function personForChange(sql: Connection, { session, sessionHash }: AccountVisit, now: Date) {
  const person = await findActiveUserForChange(sql, session.userId);
  return person && (await isSessionThereForUpdate(sql, sessionHash, now)) ? person : null;
}
