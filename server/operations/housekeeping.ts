import { importKept } from '../accounts/run-import.ts';
import { deleteInParts } from '../database/large-tables.ts';
import type { DepsWithoutWake } from '../deps.ts';
import { replaceOldHubKey } from '../hub/hub-keys.ts';
import { day, limits, minute } from '../limits.ts';
import { watchMetadata } from '../single-sign-on/saml/watch-metadata.ts';
import { ssoWarnings } from '../single-sign-on/sso-warnings.ts';

/** How long an expired reset link is distinguished from one that never existed. */
export const resetLinkRemembered = 30 * day;

const housekeepingEvery = 10 * minute;

const warningsEvery = day;

/** Deletes the rows that nobody needs any more, table by table, and replaces the keys for hubs when they are old. */
export async function keepHouse(deps: DepsWithoutWake): Promise<void> {
  const { sql, now, config } = deps;
  const at = now();
  const before = (age: number) => new Date(at.getTime() - age);
  const { freeFailures, leakEvery } = limits.throttle.account;
  const obsolete = {
    session: sql`ends_at <= ${at} or stage = 'full' and last_seen_at <= ${before(config.sessionIdle)}`,
    throttle: sql`changed_at < ${before(freeFailures * leakEvery)} and coalesce(blocked_until < ${at}, true)`,
    audit_event: sql`at < ${before(config.auditKept)}`,
    shown_recovery_codes: sql`shown_until <= ${at}`,
    pending_totp: sql`ends_at <= ${at}`,
    remembered_device: sql`ends_at <= ${at}`,
    device: sql`last_used_at < ${before(limits.deviceLifetime)}`,
    reset_link: sql`ends_at < ${before(resetLinkRemembered)}`,
    visit: sql`ends_at <= ${before(limits.visitRemembered)}`,
    passkey_challenge: sql`ends_at <= ${at}`,
    user_import: sql`made_at < ${before(importKept)}`,
    hub_key: sql`ends_at <= ${at}`,
  };
  for (const [table, condition] of Object.entries(obsolete)) await deleteInParts(sql, table, condition);
  await replaceOldHubKey(deps);
}

/** Logs what of single sign-on expires soon, has changed or must be changed, before sign-ins fail because of it. */
export async function warnOfEnds(deps: DepsWithoutWake): Promise<void> {
  for (const warning of await ssoWarnings(deps)) deps.log.warn(warning);
}

/** Runs housekeeping periodically until the returned function is called; a failure is logged and retried. */
export function startHousekeeping(deps: DepsWithoutWake): () => void {
  const failed = (error: unknown) => deps.log.error({ err: error }, 'housekeeping failed');
  const repeat = (work: (deps: DepsWithoutWake) => Promise<void>, every: number) =>
    setInterval(() => work(deps).catch(failed), every).unref();
  const timers = [
    repeat(keepHouse, housekeepingEvery),
    repeat(watchMetadata, housekeepingEvery),
    repeat(warnOfEnds, warningsEvery),
  ];
  warnOfEnds(deps).catch(failed);
  return () => timers.forEach(clearInterval);
}
