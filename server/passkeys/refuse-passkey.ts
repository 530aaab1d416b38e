import { type AuditStep, customersOfEvent } from '../audit/audit-events.ts';
import type { PasskeyRefusalReason } from '../audit/passkey-reasons.ts';
import { newReference } from '../audit/reference.ts';
import type { Deps } from '../deps/deps.ts';
import { insertAuditEvent } from '../storage/audit-event.ts';
import { insertEventOnceAMinute } from '../storage/sign-in.ts';
import { countAttempt, findWait } from '../storage/throttle.ts';
import { passkeyFailureKeys, recordKey } from '../storage/throttle-keys.ts';
import type { KnownVisitor } from '../visitor/visitor.ts';

/** Whose answer was refused, as far as it is known. */
export type RefusedUser = { id: string; username: string; customers?: readonly { key: string }[] };

/**
 * Records a refused answer and counts it for its address, unless it `isSigned`: whoever has a passkey that signs tries nothing.
 * Returns the reference of the event.
 */
export async function refusePasskey(
  { sql, now, metrics }: Deps,
  { address, requestId }: Pick<KnownVisitor, 'address' | 'requestId'>,
  {
    event = 'passkey-refused',
    reason,
    steps,
    user,
    isSigned = false,
  }: {
    event?: 'passkey-refused' | 'passkey-not-added' | 'fresh-proof-refused';
    reason: PasskeyRefusalReason;
    steps: AuditStep[];
    user?: RefusedUser | undefined;
    isSigned?: boolean;
  },
): Promise<string> {
  const reference = newReference();
  const who = user && { userId: user.id, username: user.username, ...customersOfEvent(user.customers ?? []) };
  if (!isSigned) await countAttempt(sql, passkeyFailureKeys(address), now());
  await insertAuditEvent(sql, { event, reason, reference, ...who, address, requestId, steps }, now());
  if (event === 'passkey-refused') metrics.signIns.inc({ way: 'passkey', outcome: reason });
  return reference;
}

/**
 * Until when answers from an address are not looked at, and the reference of the event; null if they are. `whose`: of an answer
 * that is no sign-in; it would have been what `event` refuses.
 */
export async function waitOfPasskeys(
  { sql, now, metrics }: Deps,
  { address, requestId }: Pick<KnownVisitor, 'address' | 'requestId'>,
  whose?: RefusedUser,
  event: 'passkey-not-added' | 'fresh-proof-refused' = 'passkey-not-added',
): Promise<{ retryAfter: number; reference: string } | null> {
  const at = now();
  const until = await findWait(sql, passkeyFailureKeys(address), at);
  if (until <= at) return null;
  const steps = [{ step: 'throttle', outcome: `passkeys from this address: wait until ${until.toISOString()}` }];
  const refused = { reason: 'throttled', address, requestId, steps } as const;
  const recorded = whose
    ? ({ ...refused, event, userId: whose.id, username: whose.username } as const)
    : ({ ...refused, event: 'passkey-refused' } as const);
  const key = recordKey(`throttled:${recorded.event}`, address);
  const reference = await insertEventOnceAMinute(sql, recorded, key, at);
  metrics.throttled.inc({ kind: 'passkey' });
  return { retryAfter: until.getTime() - at.getTime(), reference };
}
