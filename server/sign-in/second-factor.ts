import type { SecondFactor } from '../storage/second-factor.ts';
import type { SignInCustomer } from '../storage/sign-in.ts';

/** The factors that satisfy one that is asked for: an app those who ask for a code by e-mail too. */
export function factorsThatSatisfy(asked: SecondFactor): SecondFactor[] {
  return asked === 'app' ? ['app'] : ['app', 'email'];
}

/**
 * The factor that a sign-in needs (decisions §7, §8): an app that the user registered is always asked, then the stronger
 * of what the admitting customers require; null when there is none. What the browser says has no part in it.
 */
export function secondFactorOf(
  admitting: readonly Pick<SignInCustomer, 'twoFactor'>[],
  hasApp: boolean,
): SecondFactor | null {
  if (hasApp || admitting.some(({ twoFactor }) => twoFactor === 'app')) return 'app';
  return admitting.some(({ twoFactor }) => twoFactor === 'email') ? 'email' : null;
}
