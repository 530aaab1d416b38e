import type { FactorsOfUser } from '../factors/factors-of-user.ts';
import type { Customer } from '../people/customer.ts';
import type { Asked, OpenFactor, SecondFactor } from '../people/second-factor.ts';

export type Situation = FactorsOfUser & {
  /** Of the customers that admit the sign-in. */
  customers: readonly Pick<Customer, 'twoFactor' | 'rememberDevices'>[];
  /** The factor by which the browser is remembered for this user. */
  rememberedBy: SecondFactor | null;
  /** On the way to set up an app, for which a remembered browser is not enough. */
  isToRegister: boolean;
};

/**
 * What a sign-in still needs, in order (decisions §7, §8): a registered app always, otherwise the strongest that the customers
 * require. Nothing that the browser sends makes it less. Who sets up an app proves first what they have already: with the
 * password alone somebody could otherwise replace it.
 */
export function whatIsAsked(situation: Situation): Asked[] {
  const { hasApp, hasPasskeyForApp, hasEmailToProve, maySetUp } = situation;
  const factor = factorAsked(situation);
  if (factor === null || spares(factor, situation)) return [];
  if (factor === 'email') return ['email'];
  if (hasApp || !maySetUp) return ['app'];
  const last = hasPasskeyForApp ? 'passkey' : 'app';
  return hasEmailToProve ? ['email', last] : [last];
}

/** Whether something would be asked, were the browser not remembered. */
export function isSpared(situation: Situation): boolean {
  return whatIsAsked(situation).length === 0 && whatIsAsked({ ...situation, rememberedBy: null }).length > 0;
}

function factorAsked({ customers, hasApp, isEmailConfirmed, isToRegister }: Situation): SecondFactor | null {
  if (hasApp || customers.some(({ twoFactor }) => twoFactor === 'app')) return 'app';
  if (customers.some(({ twoFactor }) => twoFactor === 'email')) return 'email';
  return isToRegister && isEmailConfirmed ? 'email' : null;
}

/** A remembered browser spares the factor by which it is remembered or a weaker one, if all customers that require one agree. */
function spares(factor: SecondFactor, { customers, rememberedBy, isToRegister }: Situation): boolean {
  if (rememberedBy === null || isToRegister) return false;
  if (!customers.every(({ twoFactor, rememberDevices }) => rememberDevices || twoFactor === 'off')) return false;
  return rememberedBy === 'app' || factor === 'email';
}

/** What its page asks for first. */
export function firstFactor(asked: readonly Asked[], { hasApp, isEmailConfirmed }: FactorsOfUser): OpenFactor {
  return asked[0] === 'email'
    ? { factor: 'email', mustRegister: !isEmailConfirmed }
    : { factor: 'app', mustRegister: !hasApp };
}
