import { minute } from '../../limits.ts';
import { ProviderFailure } from '../provider-failure.ts';

/** How long discovery and metadata are cached. */
export const providerBelieved = 10 * minute;

/** Unknown keys refresh the published ones at most this often. */
export const providerKeysEvery = minute;

/** A provider's data that the process caches. */
export type Kept<T> = {
  get: (signal: AbortSignal) => Promise<T>;
  /** The last reading, whatever its age; null if there is none. Sends no request. */
  last: () => T | null;
  /** Refreshes a value that `willDo` rejects; if that does not help, not again for a while. */
  getNewer: (signal: AbortSignal, willDo: (value: T) => boolean | Promise<boolean>) => Promise<T>;
};

/**
 * Caches what was read for a while, then reads it again; concurrent callers share one request. A failed or slow reading
 * changes nothing: the last good one stays in use, and the next attempt is delayed.
 */
export function keepFresh<T>({
  read,
  now,
  patience,
  onFailure,
}: {
  read: () => Promise<T>;
  now: () => Date;
  /** How long to wait if there is a last good value, and how long callers share one reading. */
  patience: number;
  /** Called once until it works again. */
  onFailure: (words: string) => void;
}): Kept<T> {
  let good: { value: T; askedAt: number; readAt: number } | null = null;
  let underWay: Promise<T> | null = null;
  let triedAt = Number.NEGATIVE_INFINITY;
  let missedAt = Number.NEGATIVE_INFINITY;
  let complained = false;

  const isOver = (since: number, time: number) => now().getTime() - since >= time;

  /** Who comes while a reading has hung for a while begins another one: the provider may be back. */
  function readOnce(): Promise<T> {
    if (underWay !== null && !isOver(triedAt, patience)) return underWay;
    const askedAt = now().getTime();
    triedAt = askedAt;
    const reading = read()
      .then((value) => {
        // Not in place of what was asked for later.
        if (good === null || good.askedAt <= askedAt) good = { value, askedAt, readAt: now().getTime() };
        complained = false;
        return value;
      })
      .finally(() => {
        if (underWay === reading) underWay = null;
      });
    underWay = reading;
    return reading;
  }

  async function readAgain(last: T, signal: AbortSignal): Promise<T> {
    try {
      return await before(signal, readOnce());
    } catch (error) {
      if (!(error instanceof ProviderFailure)) throw error;
      if (!complained) onFailure(`${error.message}; the previous metadata stay in use`);
      complained = true;
      return last;
    }
  }

  return {
    last: () => good?.value ?? null,
    async get(signal) {
      if (good === null) return await before(signal, readOnce());
      const isStale = isOver(good.readAt, providerBelieved) && isOver(triedAt, providerKeysEvery);
      return isStale ? await readAgain(good.value, AbortSignal.timeout(patience)) : good.value;
    },
    async getNewer(signal, willDo) {
      if (good === null) return await before(signal, readOnce());
      if (underWay === null && !isOver(missedAt, providerKeysEvery)) return good.value;
      if (underWay === null) missedAt = now().getTime();
      const newer = await readAgain(good.value, signal);
      // Keys may change twice within a minute; a caller with an invalid token finds nothing either time.
      if (await willDo(newer)) missedAt = Number.NEGATIVE_INFINITY;
      return newer;
    },
  };
}

/** Waits for a promise, but no longer than until a signal. */
function before<T>(signal: AbortSignal, something: Promise<T>): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const giveUp = () => reject(new ProviderFailure('the provider did not answer in time'));
  if (signal.aborted) giveUp();
  signal.addEventListener('abort', giveUp, { once: true });
  something.then(resolve, reject);
  return promise;
}
