import { insertAuditEvent, insertEventOnceAMinute } from '../audit/audit-event.ts';
import type { PasskeyRefusalReason } from '../audit/audit-events.ts';
import { type AuditStep, customersOfEvent } from '../audit/audit-events.ts';
import { newReference } from '../audit/reference.ts';
import { tokenHash } from '../crypto/token.ts';
import type { Deps } from '../deps.ts';
import type { Visitor } from '../sessions/visitor.ts';
import { countAttempt, findWait } from '../throttle/throttle.ts';
import { keyOf, recordKey, type ThrottleKey } from '../throttle/throttle-keys.ts';
import { isKnownDevice } from './devices.ts';

/** Whose answer was refused, as far as it is known. */
export type RefusedUser = { id: string; username: string; customers?: readonly { key: string }[] };

/** Where from, and by which browser: what its ceremonies count under. */
export type BrowserToCount = Pick<Visitor, 'address' | 'deviceToken'>;

type Refused = 'passkey-refused' | 'passkey-not-added' | 'fresh-proof-refused';

/** An answer that is refused for one of these tries something; every other one was signed by a passkey, or not looked at. */
const tries: readonly PasskeyRefusalReason[] = [
  'malformed',
  'challenge-unknown',
  'answer-invalid',
  'wrong-signature',
  'unknown-passkey',
  'other-user',
];

/** Records a refused answer, and counts it for its browser or address if it tries something. Returns the reference of the event. */
export async function refusePasskey(
  deps: Deps,
  visitor: BrowserToCount & Pick<Visitor, 'requestId'>,
  refused: { event?: Refused; reason: PasskeyRefusalReason; steps: AuditStep[]; user?: RefusedUser | undefined },
): Promise<string> {
  const { sql, now, metrics } = deps;
  const { address, requestId } = visitor;
  const { event = 'passkey-refused', reason, steps, user } = refused;
  const reference = newReference();
  const who = user && { userId: user.id, username: user.username, ...customersOfEvent(user.customers ?? []) };
  if (tries.includes(reason)) await countAttempt(sql, [await passkeyKey(deps, visitor, 'passkey-failure')], now());
  await insertAuditEvent(sql, { event, reason, reference, ...who, address, requestId, steps }, now());
  if (event === 'passkey-refused') metrics.signIns.inc({ method: 'passkey', outcome: reason });
  return reference;
}

/**
 * Until when answers of a browser or from its address are not looked at, and the reference of the event; null if they are.
 * `whose`: of an answer that is no sign-in; it would have been what `event` refuses.
 */
export async function waitOfPasskeys(
  deps: Deps,
  visitor: BrowserToCount & Pick<Visitor, 'requestId'>,
  whose?: RefusedUser,
  event: Refused = whose ? 'passkey-not-added' : 'passkey-refused',
): Promise<{ retryAfter: number; reference: string } | null> {
  const at = deps.now();
  const { address, requestId } = visitor;
  const until = await findWait(deps.sql, [await passkeyKey(deps, visitor, 'passkey-failure')], at);
  if (until <= at) return null;
  const steps = [{ step: 'throttle', outcome: `passkeys from here: wait until ${until.toISOString()}` }];
  const who = whose && { userId: whose.id, username: whose.username };
  const refused = { event, reason: 'throttled', ...who, address, requestId, steps } as const;
  const reference = await insertEventOnceAMinute(deps.sql, refused, recordKey(`throttled:${event}`, address), at);
  return { retryAfter: until.getTime() - at.getTime(), reference };
}

/** The key under which the ceremonies that a browser begins count, or its refused answers. */
export async function passkeyKey(
  { sql }: Pick<Deps, 'sql'>,
  { address, deviceToken }: BrowserToCount,
  kind: 'passkey' | 'passkey-failure',
): Promise<ThrottleKey> {
  const deviceHash = deviceToken === null ? null : tokenHash(deviceToken);
  // One in which somebody has signed in counts by itself: nobody else at its address makes it wait.
  return keyOf(kind, deviceHash && (await isKnownDevice(sql, deviceHash)) ? { deviceHash } : { address });
}
