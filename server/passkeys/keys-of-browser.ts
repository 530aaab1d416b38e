import type { Deps } from '../deps/deps.ts';
import { tokenHash } from '../secrets/token.ts';
import { isKnownDevice } from '../storage/device.ts';
import { passkeyFailureKeys, passkeyKeys, type ThrottleKey } from '../storage/throttle-keys.ts';
import type { KnownVisitor } from '../visitor/visitor.ts';

/** Where from, and by which browser: what its ceremonies count under. */
export type BrowserToCount = Pick<KnownVisitor, 'address' | 'deviceToken'>;

/** The keys under which the ceremonies count that a browser begins. */
export async function keysOfBegun({ sql }: Pick<Deps, 'sql'>, browser: BrowserToCount): Promise<ThrottleKey[]> {
  return passkeyKeys(await originOf(sql, browser));
}

/** The keys under which the refused answers of a browser count. */
export async function keysOfRefused({ sql }: Pick<Deps, 'sql'>, browser: BrowserToCount): Promise<ThrottleKey[]> {
  return passkeyFailureKeys(await originOf(sql, browser));
}

/** One in which somebody has signed in counts by itself: nobody else at its address makes it wait. */
async function originOf(
  sql: Deps['sql'],
  { address, deviceToken }: BrowserToCount,
): Promise<{ address: string } | { deviceHash: Buffer }> {
  const deviceHash = deviceToken === null ? null : tokenHash(deviceToken);
  return deviceHash && (await isKnownDevice(sql, deviceHash)) ? { deviceHash } : { address };
}
