import type { DepsWithoutWake } from '../deps/deps.ts';
import { day } from '../limits.ts';
import { insertAuditEvent } from '../storage/audit-event.ts';
import { deleteHopelessHubLogouts } from '../storage/hub-logout.ts';

const hubLogoutGivenUpAfter = day;

/** How many may wait for one hub. */
export const hubLogoutsWaiting = 100_000;

/** Drops what hubs have not taken within a day, and the oldest of too much, and records how much. */
export async function giveUpTelling({ sql, now, log }: DepsWithoutWake): Promise<void> {
  await sql.begin(async (sql) => {
    const since = new Date(now().getTime() - hubLogoutGivenUpAfter);
    const given = await deleteHopelessHubLogouts(sql, { since, most: hubLogoutsWaiting });
    for (const { audience, count, problem } of given) {
      const steps = [
        { step: 'hub', outcome: audience },
        { step: 'ended sessions', outcome: String(count) },
        ...(problem === null ? [] : [{ step: 'last problem', outcome: problem }]),
      ];
      await insertAuditEvent(sql, { event: 'hub-logout-given-up', steps }, now());
      log.error({ hub: audience, count, problem }, 'a hub was not told of ended sessions');
    }
  });
}
