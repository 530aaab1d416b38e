import { deleteOldAuditEvents } from '../audit/audit-event.ts';
import type { DepsWithoutWake } from '../deps.ts';
import { deleteEndedRememberedDevices, deleteStaleDevices } from '../factors/devices.ts';
import { deleteOldPasskeyChallenges } from '../factors/passkey-ceremony.ts';
import { deleteShownRecoveryCodes } from '../factors/recovery-codes.ts';
import { deleteEndedPendingTotp } from '../factors/totp.ts';
import { deleteOldHubKeys, replaceOldHubKey } from '../hub/hub-keys.ts';
import { day, limits, minute } from '../limits.ts';
import { deleteEndedSessions } from '../sessions/end-sessions.ts';
import { deleteOldVisits } from '../sessions/visit.ts';
import { deleteOldResetLinks } from '../sign-in/reset-link.ts';
import { watchMetadata } from '../single-sign-on/saml/watch-metadata.ts';
import { ssoWarnings } from '../single-sign-on/sso-warnings.ts';
import { deleteStaleThrottles } from '../throttle/throttle.ts';

/** How long an expired reset link is distinguished from one that never existed. */
export const resetLinkRemembered = 30 * day;

const housekeepingEvery = 10 * minute;

const warningsEvery = day;

/**
 * Deletes what is obsolete: ended sessions, empty throttles, browsers that never came back, old events, links that were over
 * long ago, finished visits to providers, and ceremonies with passkeys. Replaces the keys for hubs when they are old.
 */
export async function keepHouse(deps: DepsWithoutWake): Promise<void> {
  const { sql, now, config } = deps;
  const at = now();
  const before = (age: number) => new Date(at.getTime() - age);
  const { account } = limits.throttle;
  await deleteEndedSessions(sql, { idleSince: before(config.sessionIdle), now: at });
  await deleteStaleThrottles(sql, before(account.freeFailures * account.leakEvery), at);
  await deleteOldAuditEvents(sql, before(config.auditKept));
  await deleteShownRecoveryCodes(sql, at);
  await deleteEndedPendingTotp(sql, at);
  await deleteEndedRememberedDevices(sql, at);
  await deleteStaleDevices(sql, before(limits.deviceLifetime));
  await deleteOldResetLinks(sql, before(resetLinkRemembered));
  await deleteOldVisits(sql, before(limits.visitRemembered));
  await deleteOldPasskeyChallenges(sql, at);
  await replaceOldHubKey(deps);
  await deleteOldHubKeys(sql, at);
}

/** Logs what of single sign-on expires soon, has changed or must be changed, before sign-ins fail because of it. */
export async function warnOfEnds(deps: DepsWithoutWake): Promise<void> {
  for (const warning of await ssoWarnings(deps)) deps.log.warn(warning);
}

/** Runs housekeeping periodically until the returned function is called; a failure is logged and retried. */
export function startHousekeeping(deps: DepsWithoutWake): () => void {
  const failed = (error: unknown) => deps.log.error({ err: error }, 'housekeeping failed');
  const timer = setInterval(() => keepHouse(deps).catch(failed), housekeepingEvery);
  const metadata = setInterval(() => watchMetadata(deps).catch(failed), housekeepingEvery);
  const warnings = setInterval(() => warnOfEnds(deps).catch(failed), warningsEvery);
  warnOfEnds(deps).catch(failed);
  timer.unref();
  metadata.unref();
  warnings.unref();
  return () => {
    clearInterval(timer);
    clearInterval(metadata);
    clearInterval(warnings);
  };
}
