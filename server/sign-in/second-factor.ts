import type { SecondFactor } from '../storage/second-factor.ts';
import type { SignInCustomer } from '../storage/sign-in.ts';

/** The factors that satisfy a required one: an app also satisfies a code by email. */
export function factorsThatSatisfy(asked: SecondFactor): SecondFactor[] {
  return asked === 'app' ? ['app'] : ['app', 'email'];
}

/**
 * The factor that a sign-in needs (decisions §7, §8): a registered app always, otherwise the strongest that the
 * admitting customers require; null if none. Nothing the browser sends changes it.
 */
export function secondFactorOf(
  admitting: readonly Pick<SignInCustomer, 'twoFactor'>[],
  hasApp: boolean,
): SecondFactor | null {
  if (hasApp || admitting.some(({ twoFactor }) => twoFactor === 'app')) return 'app';
  return admitting.some(({ twoFactor }) => twoFactor === 'email') ? 'email' : null;
}
