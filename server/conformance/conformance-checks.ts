import type { Account } from './account.ts';
import { crossSiteChecks } from './cross-site-checks.ts';
import type { Finding } from './finding.ts';
import { passwordChecks } from './password-checks.ts';
import { signInChecks } from './sign-in-checks.ts';
import { signOutAdvice } from './sign-out-advice.ts';
import { singleSignOnChecks } from './single-sign-on-checks.ts';
import { twoFactorChecks } from './two-factor-checks.ts';

/**
 * Tries every call of specification §7 at a backend, as a browser with the pages would. `base` is the address below which
 * the calls lie. Throws if the backend does not answer.
 */
export async function* conformanceChecks(base: URL, account: Account, now: () => Date): AsyncGenerator<Finding> {
  yield* signInChecks(base, account);
  yield* signOutAdvice(base, account);
  yield* singleSignOnChecks(base, account);
  yield* passwordChecks(base, account);
  yield* twoFactorChecks(base, account, now);
  yield* crossSiteChecks(base);
}
