import type { DestinationRules } from './destination.ts';
import type { Language } from './languages.ts';
import type { PasswordPolicy } from './password-rules.ts';
import type { RegistrationAnswer } from './payloads.ts';

/** What the operator's configuration shows on every page. `logo` is the path of an image; null draws the built-in mark. */
export type Branding = {
  name: string;
  logo: string | null;
  links: { support: string; imprint: string; solutions: string };
};

/** Refusals that are answered with a readable page of their own; each has texts `problem-NNN-title` and `-text`. */
export const problemStatuses = [400, 403, 405, 413, 415, 421, 429, 431, 500, 503] as const;
export type ProblemStatus = (typeof problemStatuses)[number];

/** A page that has no address of its own in the specification. */
export type ServerPage =
  | { name: 'signedIn'; username: string; email: string; customers: string[] }
  | { name: 'signOutConfirm' }
  /** A sign-in that is too old to set up an app: `comesBackTo` once more signed in, or `goesOnTo` without. */
  | { name: 'signInOnceMore'; comesBackTo: string; goesOnTo: string }
  /** After the registration of an app, and after a recovery code was used: `codes` is null when they are not shown any more. */
  | { name: 'recoveryCodes'; codes: string[] | null; left: number; destination: string }
  /** Leads on to an identity provider by itself, to sign in there or to sign out; by a form where there are fields. */
  | { name: 'leaving'; isSignOut: boolean; url: string; provider: string; fields?: Record<string, string> }
  /** A provider sent the visitor here unasked; `account` is who is signed in already, and may go on to `goesOnTo`. */
  | { name: 'providerBegan'; connection: string; provider: string; account: string | null; goesOnTo: string }
  /** A provider's answer would sign in `other`; `account` is who is signed in already, and may go on to `goesOnTo`. */
  | {
      name: 'otherAccount';
      request: string;
      provider: string;
      other: string;
      account: string | null;
      goesOnTo: string;
    }
  /**
   * A provider's sign-in may not set up an app for the whole account: `comesBackTo` after a sign-in with the password,
   * null where only an administrator can help; `goesOnTo` without an app, null where one is required.
   */
  | { name: 'registerElsewhere'; comesBackTo: string | null; goesOnTo: string | null }
  | { name: 'problem'; status: ProblemStatus; retryAfterSeconds: number | null };

/** What the server knows of the session that a second-factor screen belongs to: a half-signed-in one, or see `goesOnTo`. */
export type OpenSecondFactor = {
  /** The name of the account, for the link into an authenticator app. */
  account: string;
  /** Whether "do not ask again on this device" may be offered. */
  mayRemember: boolean;
  /** Whether a recovery code may be used in place of the code. */
  mayRecover: boolean;
  /** E-mail codes: in how many seconds another one may be sent; null when no more may be. */
  sendAgainAfter: number | null;
  /** E-mail codes: none went out for this sign-in, because the account got too many before. */
  isCodeNotSent?: true;
  /** Of who is signed in already and sets up an app of his own will: where giving that up leads. */
  goesOnTo?: string;
};

/**
 * Marks of the browser's last sign-in and sign-out: random, and worth nothing else. Where one has changed, what a tab
 * saved before was another turn's at the browser.
 */
export type Turns = { signedIn: string | null; signedOut: string | null };

/**
 * All that the server tells a page besides its address. It is rendered into the first response and read again by the
 * browser, so it holds nothing that the visitor may not see.
 */
export type Page = {
  language: Language;
  /** Path and query as the visitor asked for them; the fragment never reaches the server. */
  url: string;
  branding: Branding;
  rules: DestinationRules;
  passwordPolicy: PasswordPolicy;
  /** The name typed before a refused sign-in, to be filled in again. */
  typedUsername: string;
  /** The short reference of the last refusal, for `vestibule explain`. */
  reference: string | null;
  /** The reset hash that waits in this browser, for the form that is opened without one in its address. */
  resetHash?: string;
  /** Left out where nobody has signed in or out in this browser. */
  turns?: Turns;
  /** Of the single sign-on screen: the connections among which the typed address leaves a choice. */
  connections?: { key: string; name: string }[];
  /** The page answers a posted form: `url` is the address of what it shows, not the one in the address bar. */
  isAnswer?: true;
  /** Of the second-factor screens, when their session is there. */
  secondFactor?: OpenSecondFactor;
  /** What an authenticator app needs, for visitors without script; it is not repeated for the script, which asks itself. */
  registration?: RegistrationAnswer;
  /** Set when the page is not one of the addressed screens. */
  serverPage: ServerPage | null;
};
