import type { SecondFactor } from '../storage/second-factor.ts';
import type { Visitor } from './visitor.ts';

/** What a visitor gave to sign in with. */
export type SignInRequest = Visitor & { username: string; password: string };

/** Every way a sign-in can end; `reference` is for the visitor to read out to the operator. */
export type SignInResult =
  | { kind: 'signedIn'; sessionToken: string; deviceToken: string; rememberedToken: string | null }
  | { kind: 'secondFactor'; factor: SecondFactor; mustRegister: boolean; sessionToken: string }
  | { kind: 'refused'; reference: string }
  | { kind: 'networkRefused'; reference: string }
  | { kind: 'throttled'; retryAfter: number };
