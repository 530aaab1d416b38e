import { insertAuditEvent } from '../audit/audit-event.ts';
import type { Connection } from '../database/database.ts';
import { limits } from '../limits.ts';
import {
  addHubKey,
  deleteHubKeys,
  fromTheStart,
  type HubKeyDeps,
  type HubKeyRow,
  listHubKeys,
  lockHubKeys,
} from './hub-keys.ts';

/** `underWay`: newer keys are published already, and sign from then on. */
type RollResult = { kind: 'rolled' | 'underWay'; signsFrom: Date };

/**
 * Publishes new keys, which sign once every hub has had time to read them. `atOnce` withdraws all others immediately, for
 * keys that somebody may have copied: until a hub reads the keys again, it refuses every token.
 */
export async function rollHubKeys(deps: HubKeyDeps, { atOnce = false } = {}): Promise<RollResult> {
  return await deps.sql.begin(async (sql) => {
    await lockHubKeys(sql);
    return await roll(deps, sql, atOnce);
  });
}

/** Does that if the newest keys are old; whichever instance is first. */
export async function rollOldHubKeys(deps: HubKeyDeps): Promise<void> {
  await deps.sql.begin(async (sql) => {
    await lockHubKeys(sql);
    const newest = await findNewestHubKeys(sql, deps.now());
    if (newest && newest.replacedAt <= deps.now()) await roll(deps, sql, false);
  });
}

async function roll(deps: HubKeyDeps, sql: Connection, atOnce: boolean): Promise<RollResult> {
  const now = deps.now();
  const next = (await listHubKeys(sql, now)).find(({ signsFrom }: HubKeyRow) => signsFrom > now);
  if (next && !atOnce) return { kind: 'underWay', signsFrom: next.signsFrom };
  const signsFrom = new Date(now.getTime() + (atOnce ? 0 : limits.hubKeyAhead));
  if (atOnce) await deleteHubKeys(sql);
  await addHubKey(deps, sql, atOnce ? fromTheStart : signsFrom);
  const steps = [
    { step: 'signs from', outcome: signsFrom.toISOString() },
    { step: 'keys before', outcome: atOnce ? 'withdrawn at once' : 'published until their last token has ended' },
  ];
  await insertAuditEvent(sql, { event: 'hub-keys-rolled', steps }, now);
  return { kind: 'rolled', signsFrom };
}

/** When the newest keys were made, and when housekeeping replaces them; null while there are none. */
export async function findNewestHubKeys(
  sql: Connection,
  now: Date,
): Promise<{ madeAt: Date; replacedAt: Date } | null> {
  const newest = (await listHubKeys(sql, now)).at(-1);
  return newest ? { madeAt: newest.madeAt, replacedAt: new Date(newest.madeAt.getTime() + limits.hubKeyAge) } : null;
}
