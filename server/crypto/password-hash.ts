import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { hash, verify } from '@node-rs/argon2';
import { limits } from '../limits.ts';
import { readForeignHash, verifyForeignHash } from './foreign-hash.ts';

/** OWASP's second choice for argon2id: 19 MiB, two passes, one lane. */
const parameters = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
const prefix = `$argon2id$v=19$m=${parameters.memoryCost},t=${parameters.timeCost},p=${parameters.parallelism}$`;

/** One more than there are cores: the next one starts before the event loop learns that a hash is done. */
const mostHashesAtOnce = availableParallelism() + 1;
const { enqueue, refuseWhenFull, length } = workQueue(mostHashesAtOnce, limits.waitingHashes);

/** Throws WorkQueueFull if too many passwords are waiting to be hashed for one more of a network. */
export const refuseWhenHashesWait = refuseWhenFull;

/** How many passwords are being hashed or checked in this process, and how many wait for that. */
export const hashesInQueue = length;

/** The hash of no password: random in place of a salt and a result. Checking it costs as much as checking a real one. */
const decoyHash = prefix + [16, 32].map((size) => randomBytes(size).toString('base64').replace(/=+$/, '')).join('$');

/** The network of what nobody on a network asked for, such as a command. */
const noAddress = 'no address';

/** Hashes a password for somebody in a network; returns the PHC text. Throws WorkQueueFull if too many wait. */
export function hashPassword(password: string, network: string | null): Promise<string> {
  return enqueue(network ?? noAddress, () => hash(password.normalize('NFC'), parameters));
}

/**
 * Whether the password matches the stored hash, ours or an imported one; for somebody in a network. A null hash costs
 * the same work as one of ours and never matches, so that timing doesn't reveal an account without a password, or a missing
 * one. A hash that cannot be verified never matches either. Throws WorkQueueFull if too many wait.
 */
export function verifyPassword(storedHash: string | null, password: string, network: string | null): Promise<boolean> {
  return enqueue(network ?? noAddress, async () => {
    const right = await isRight(storedHash ?? decoyHash, password);
    return right && storedHash !== null;
  });
}

async function isRight(storedHash: string, password: string): Promise<boolean> {
  const composed = password.normalize('NFC');
  try {
    return await matches(storedHash, { composed, typed: password });
  } catch {
    // The fault may be the hash's: its user is refused. If it is not, such as a lack of memory, the decoy fails too.
    await verify(decoyHash, composed);
    return false;
  }
}

async function matches(storedHash: string, { composed, typed }: { composed: string; typed: string }): Promise<boolean> {
  const foreign = isHashOutdated(storedHash) ? readForeignHash(storedHash) : null;
  if (!foreign) {
    if (await verify(storedHash, composed)) return true;
    // One with our parameters may be imported too. The decoy takes this step as well.
    return composed !== typed && (await verify(storedHash, typed));
  }
  // Other systems hash what was typed; one of ours with older parameters is of the composed form.
  if (await verifyForeignHash(foreign, typed)) return true;
  return foreign.kind === 'argon2' && composed !== typed && (await verifyForeignHash(foreign, composed));
}

/** Whether a stored hash was made with other parameters than the current ones. */
export function isHashOutdated(storedHash: string): boolean {
  return !storedHash.startsWith(prefix);
}

/** The queue is full. */
export class WorkQueueFull extends Error {}

export type WorkQueue = {
  enqueue: <T>(network: string, work: () => Promise<T>) => Promise<T>;
  /** Throws WorkQueueFull if more work of a network would be refused: to be called before anything is counted or changed. */
  refuseWhenFull: (network: string) => void;
  length: () => { running: number; waiting: number };
};

/**
 * A queue for heavy work: at most `atOnce` pieces run and at most `mostWaiting` wait, the oldest first; any more throw
 * WorkQueueFull. One network has at most half of the places, so that somebody who signs in without end keeps nobody else out.
 * A piece that runs does so until its work ends, even if nobody waits for the result any more, so that disconnecting early
 * gains nobody a second one.
 */
export function workQueue(atOnce: number, mostWaiting: number): WorkQueue {
  let running = 0;
  const waiting: { network: string; begin: () => void }[] = [];

  function refuseWhenFull(network: string) {
    if (running < atOnce) return;
    const ofNetwork = waiting.filter((one) => one.network === network).length;
    if (waiting.length >= mostWaiting || ofNetwork >= mostWaiting / 2) throw new WorkQueueFull();
  }

  async function enqueue<T>(network: string, work: () => Promise<T>): Promise<T> {
    refuseWhenFull(network);
    if (running < atOnce) running += 1;
    else await new Promise<void>((begin) => waiting.push({ network, begin }));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next.begin();
      else running -= 1;
    }
  }

  return { enqueue, refuseWhenFull, length: () => ({ running, waiting: waiting.length }) };
}
