import { onTestFinished } from 'vitest';

// Imports nothing that loads argon2: the factory of `vi.mock` loads this file.

type Argon2 = typeof import('@node-rs/argon2');

/** While set, a password verification reports itself and waits. */
let pause: { reached: () => void; over: Promise<void> } | null = null;

/** What a test puts in the place of argon2, so that `whilePasswordIsVerified` can pause it. */
export function withPausedVerification(real: Argon2): Argon2 {
  const verify: Argon2['verify'] = async (...given) => {
    const right = await real.verify(...given);
    pause?.reached();
    await pause?.over;
    return right;
  };
  return { ...real, verify };
}

/** Signs in, and does something once the password has been verified. */
export async function whilePasswordIsVerified<T>(signIn: () => Promise<T>, work: () => Promise<unknown>): Promise<T> {
  const [reached, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  pause = { reached: reached.resolve, over: over.promise };
  onTestFinished(() => {
    pause = null;
  });
  const signingIn = signIn();
  await reached.promise;
  pause = null;
  await work();
  over.resolve();
  return await signingIn;
}
