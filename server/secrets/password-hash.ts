import { availableParallelism } from 'node:os';
import { hash, verify } from '@node-rs/argon2';
import { limits } from '../limits.ts';
import { newToken } from './token.ts';
import { workQueue } from './work-queue.ts';

/** OWASP's second choice for argon2id: 19 MiB, two passes, one lane. */
const parameters = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
const parametersText = 'm=19456,t=2,p=1';

/** One more than there are cores: while the event loop learns that a hash is done, no core stands idle. */
const mostAtOnce = availableParallelism() + 1;
const inTurn = workQueue(mostAtOnce, limits.waitingHashes);

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
    const right = await verify(storedHash ?? (await decoyHash), password.normalize('NFC'));
    return right && storedHash !== null;
  });
}

/** Whether a stored hash was made with other parameters than today's and should be made anew at the next sign-in. */
export function isOutdatedHash(storedHash: string): boolean {
  return !storedHash.startsWith('$argon2id$') || !storedHash.includes(parametersText);
}

const decoyHash = hash(newToken(), parameters);
