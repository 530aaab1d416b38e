import { deleteOldAuditEvents } from '#server/audit/audit-event.ts';
import { deleteEndedSessions } from '#server/sessions/end-sessions.ts';
import { report } from '../figures.ts';
import type { Installation } from './operations.ts';

const day = 86_400_000;

/** What housekeeping deletes at most: the events of many days, when fewer are kept from now on, and everybody's session. */
export async function measureUpkeep({ sql }: Installation): Promise<void> {
  const now = Date.now();
  await measure('deleting the events of ten days', () => deleteOldAuditEvents(sql, new Date(now - 80 * day)));
  await measure('deleting all sessions', () =>
    deleteEndedSessions(sql, { idleSince: new Date(0), now: new Date(now + day) }),
  );
}

async function measure(what: string, work: () => Promise<number>): Promise<void> {
  const started = performance.now();
  const done = await work().catch((error: Error) => error.message);
  const seconds = (performance.now() - started) / 1000;
  report(what, `${done} in ${seconds.toFixed(1)} s`, 'done', typeof done === 'number');
}
