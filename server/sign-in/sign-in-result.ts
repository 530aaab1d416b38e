import type { SecondFactor } from '../people/second-factor.ts';
import type { KnownVisitor } from '../sessions/visitor.ts';

/** What a visitor signs in with; `isToRegister`: on the way to the page that sets up an app. */
export type SignInRequest = KnownVisitor & { username: string; password: string; isToRegister: boolean };

/** Every outcome of a sign-in; `retryAfter` in milliseconds; visitors read out `reference` to the operator. */
export type SignInResult =
  | { kind: 'signedIn'; sessionToken: string; deviceToken: string }
  | { kind: 'secondFactor'; factor: SecondFactor; mustRegister: boolean; sessionToken: string }
  | { kind: 'refused'; reference: string }
  | { kind: 'networkRefused'; reference: string }
  | { kind: 'throttled'; retryAfter: number; reference: string };
