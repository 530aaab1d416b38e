import type { AuditStep, RefusalReason } from '../audit/audit-events.ts';
import type { FactorsOfUser } from '../factors/may-change-factors.ts';
import type { Customer } from '../people/customer.ts';
import type { Asked, OpenFactor, SecondFactor } from '../people/sign-in-policy.ts';
import { type SignInCustomer, type SignInUser, stepsOfUser } from '../people/sign-in-user.ts';
import type { Visitor } from '../sessions/visitor.ts';

/** What a visitor signs in with; `setsUpApp`: on the way to the page that sets up an app. */
export type SignInRequest = Visitor & { username: string; password: string; setsUpApp: boolean };

/** Every outcome of a sign-in; `retryAfter` in milliseconds; visitors read out `reference` to the operator. */
export type SignInResult =
  | { kind: 'signedIn'; sessionToken: string; deviceToken: string }
  | { kind: 'secondFactor'; factor: SecondFactor; mustRegister: boolean; sessionToken: string }
  | { kind: 'refused'; reference: string }
  | { kind: 'networkRefused'; reference: string }
  | { kind: 'throttled'; retryAfter: number; reference: string };

/** Of a user, what a refusal depends on. */
type Judged = Pick<SignInUser, 'passwordHash' | 'active' | 'ssoRequired'> & {
  customers: readonly Pick<SignInCustomer, 'admits'>[];
};

/** Why a sign-in is refused, or null. The order is that of the steps which an operator reads. */
export function reasonToRefuse(user: Judged | null, isRight: boolean): RefusalReason | null {
  if (!user) return 'unknown-user';
  if (user.passwordHash === null) return 'no-password';
  if (!isRight) return 'wrong-password';
  if (!user.active) return 'inactive';
  if (user.customers.length === 0) return 'no-customer';
  if (user.ssoRequired) return 'single-sign-on-required';
  if (!user.customers.some(({ admits }) => admits)) return 'network';
  return null;
}

/** The decisions as `vestibule explain` shows them to an operator. */
export function stepsOf(
  user: SignInUser | null,
  { mayTry, isRight, address }: { mayTry: boolean; isRight: boolean; address: string },
): AuditStep[] {
  const looked = user?.passwordHash == null ? 'the user has none' : isRight ? 'right' : 'wrong';
  return [
    { step: 'account', outcome: user ? `found: ${user.username}` : 'no user has this name' },
    { step: 'browser', outcome: user?.deviceKnown ? 'signed in before as this user' : 'not known' },
    { step: 'throttle', outcome: mayTry ? 'may continue' : 'too many failures, must wait' },
    ...(user ? [{ step: 'password', outcome: mayTry ? looked : 'not checked' }] : []),
    ...(user && isRight ? stepsOfUser(user, address) : []),
  ];
}

export type Situation = FactorsOfUser & {
  /** Of the customers that admit the sign-in. */
  customers: readonly Pick<Customer, 'twoFactor' | 'rememberDevices'>[];
  /** The factor by which the browser is remembered for this user. */
  rememberedBy: SecondFactor | null;
  /** On the way to set up an app, for which a remembered browser is not enough. */
  setsUpApp: boolean;
};

/**
 * What a sign-in still needs, in order: the app if the user has one, otherwise the strongest factor that the
 * customers require. Nothing that the browser sends makes it less. Before a user sets up an app they prove the factors that they
 * have, so that the password alone is not enough to add one.
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

/** Whether a remembered browser is the only reason that nothing is asked. */
export function isSpared(situation: Situation): boolean {
  return whatIsAsked(situation).length === 0 && whatIsAsked({ ...situation, rememberedBy: null }).length > 0;
}

function factorAsked({ customers, hasApp, isEmailConfirmed, setsUpApp }: Situation): SecondFactor | null {
  if (hasApp || customers.some(({ twoFactor }) => twoFactor === 'app')) return 'app';
  if (customers.some(({ twoFactor }) => twoFactor === 'email')) return 'email';
  return setsUpApp && isEmailConfirmed ? 'email' : null;
}

/** A remembered browser spares its own factor or a weaker one, if every customer that requires a factor allows it. */
function spares(factor: SecondFactor, { customers, rememberedBy, setsUpApp }: Situation): boolean {
  if (rememberedBy === null || setsUpApp) return false;
  if (!customers.every(({ twoFactor, rememberDevices }) => rememberDevices || twoFactor === 'off')) return false;
  return rememberedBy === 'app' || factor === 'email';
}

/** The factor that is asked for first. */
export function firstFactor(asked: readonly Asked[], { hasApp, isEmailConfirmed }: FactorsOfUser): OpenFactor {
  return asked[0] === 'email'
    ? { factor: 'email', mustRegister: !isEmailConfirmed }
    : { factor: 'app', mustRegister: !hasApp };
}
