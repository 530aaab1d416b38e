import { availableParallelism } from 'node:os';
import { hash, hashSync, verify } from '@node-rs/argon2';
import { limits } from '../limits.ts';
import { newToken } from './token.ts';
import { workQueue } from './work-queue.ts';

/** OWASP's second choice for argon2id: 19 MiB, two passes, one lane. */
const parameters = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** One more than there are cores: while the event loop learns that a hash is done, the next one has begun. */
const mostHashesAtOnce = availableParallelism() + 1;
const { inTurn, refuseWhenFull } = workQueue(mostHashesAtOnce, limits.waitingHashes);

/** Throws WorkQueueFull when too many passwords wait to be hashed. */
export const refuseWhenHashesWait = refuseWhenFull;

/** Made without a thread, since the pool of threads is given its size only when the server starts. */
const decoyHash = hashSync(newToken(), parameters);

/**
 * Hashes a password with argon2id; returns the PHC text.
 * Throws WorkQueueFull when too many wait.
 */
export function hashPassword(password: string): Promise<string> {
  return inTurn(() => hash(password.normalize('NFC'), parameters));
}

/**
 * Whether the password belongs to the stored hash. A null hash costs the same work and is never right, so that an
 * account without a password, or none at all, cannot be told by time. Throws WorkQueueFull when too many wait.
 */
export function verifyPassword(storedHash: string | null, password: string): Promise<boolean> {
  return inTurn(async () => {
    const right = await verify(storedHash ?? decoyHash, password.normalize('NFC'));
    return right && storedHash !== null;
  });
}

/** Whether a stored hash was made with weaker parameters than those of today, or other ones. */
export function isHashOutdated(storedHash: string): boolean {
  const { memoryCost, timeCost, parallelism } = parameters;
  return !storedHash.startsWith(`$argon2id$v=19$m=${memoryCost},t=${timeCost},p=${parallelism}$`);
}
