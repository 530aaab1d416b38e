import type { KnownVisitor } from '../visitor/visitor.ts';

export type VerifyRequest = KnownVisitor & {
  sessionToken: string;
  /** Six digits or a recovery code as sent, or in their place the answer of a passkey. */
  given: string;
  by: 'code' | 'passkey';
  /** A form without script may be pressed twice; a script prevents that. */
  isForm: boolean;
  /** Whether this browser skips the code for a while. */
  remember: boolean;
};

/** Every outcome of a code; `retryAfter` in milliseconds. After the last attempt the sign-in form has the `username` filled in. */
export type VerifyResult =
  | {
      kind: 'right';
      /** There is something to read before the destination. */
      hasPage: boolean;
      sessionToken: string;
      /** Null: the browser keeps the one that it has. */
      deviceToken: string | null;
      rememberedToken: string | null;
      /** The session's connection, if any. */
      connectionId: string | null;
    }
  /** The code by email was right, and an app is to be registered next. */
  | { kind: 'thenApp'; sessionToken: string }
  | { kind: 'wrong'; isLast: boolean; username: string }
  | { kind: 'signInExpired' }
  /** An app was being set up, and the sign-in is now too old for that. */
  | { kind: 'signInTooOld' }
  | { kind: 'tooManyTries'; username: string }
  | { kind: 'throttled'; retryAfter: number };

export type Right = Extract<VerifyResult, { kind: 'right' | 'thenApp' }>;
