import type { RefusalReason, ResetOutcome, SsoRefusalReason } from '../audit/audit-events.ts';
import type { PasskeyRefusalReason } from '../audit/passkey-reasons.ts';

/** Counts something, by its labels. */
export type Counter<Label extends string> = { inc: (labels: Partial<Record<Label, string>>) => void };

/** Times something, by its labels, in seconds. */
export type Timer<Label extends string> = {
  observe: (labels: Partial<Record<Label, string>>, seconds: number) => void;
};

/** The last proof of a sign-in; `unknown` for a provider's answer that belongs to no connection. */
export type WayOfSignIn =
  | 'password'
  | 'app'
  | 'email_code'
  | 'recovery_code'
  | 'remembered'
  | 'passkey'
  | 'oidc'
  | 'saml'
  | 'unknown';

export type SignInLabels = {
  way: WayOfSignIn;
  outcome:
    | 'signed-in'
    | 'second-factor-asked'
    | 'code-refused'
    | 'second-factor-ended'
    | RefusalReason
    | PasskeyRefusalReason
    | SsoRefusalReason;
};

/** What somebody tried too often and has to wait for. */
export const throttledKinds = [
  'account',
  'device',
  'address',
  'code',
  'code_mail',
  'reset',
  'single_sign_on',
  'logout_token',
  'passkey',
] as const;
export type ThrottledKind = (typeof throttledKinds)[number];

/** The metrics for the operator's monitoring, in the Prometheus text format. Labels have few values, never a person's. */
export type Metrics = {
  text: () => Promise<string>;
  contentType: string;
  /** Stops listening to the process's work. */
  close: () => void;
  requests: Counter<'route' | 'status'>;
  requestTime: Timer<'route'>;
  signIns: { inc: (labels: SignInLabels) => void };
  throttled: { inc: (labels: { kind: ThrottledKind }) => void };
  resetRequests: { inc: (labels: { outcome: ResetOutcome }) => void };
  mailsSent: Counter<'kind'>;
  mailsRefused: Counter<'kind'>;
  mailsGivenUp: Counter<'kind'>;
  mailServerDown: Counter<never>;
  /** By connection: started, signed in, or refused with its reason. */
  singleSignOn: Counter<'connection' | 'outcome'>;
};
