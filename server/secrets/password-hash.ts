import { availableParallelism } from 'node:os';
import { hash, hashSync, verify } from '@node-rs/argon2';
import { limits } from '../limits.ts';
import { newToken } from './token.ts';
import { workQueue } from './work-queue.ts';

/** OWASP's second choice for argon2id: 19 MiB, two passes, one lane. */
const parameters = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** One more than there are cores: the next one starts before the event loop learns that a hash is done. */
const mostHashesAtOnce = availableParallelism() + 1;
const { inTurn, refuseWhenFull } = workQueue(mostHashesAtOnce, limits.waitingHashes);

/** Throws WorkQueueFull if too many passwords are waiting to be hashed. */
export const refuseWhenHashesWait = refuseWhenFull;

/** Made on this thread, since the thread pool is sized only when the server starts. */
const decoyHash = hashSync(newToken(), parameters);

/** Hashes a password with argon2id; returns the PHC text. Throws WorkQueueFull if too many are waiting. */
export function hashPassword(password: string): Promise<string> {
  return inTurn(() => hash(password.normalize('NFC'), parameters));
}

/**
 * Whether the password matches the stored hash. A null hash costs the same work and never matches, so that timing
 * doesn't reveal an account without a password, or a missing one. Throws WorkQueueFull if too many wait.
 */
export function verifyPassword(storedHash: string | null, password: string): Promise<boolean> {
  return inTurn(async () => {
    const right = await verify(storedHash ?? decoyHash, password.normalize('NFC'));
    return right && storedHash !== null;
  });
}

/** Whether a stored hash was made with other parameters than the current ones. */
export function isHashOutdated(storedHash: string): boolean {
  const { memoryCost, timeCost, parallelism } = parameters;
  return !storedHash.startsWith(`$argon2id$v=19$m=${memoryCost},t=${timeCost},p=${parallelism}$`);
}
