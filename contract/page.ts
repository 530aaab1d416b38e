import type { Call } from './calls.ts';
import type { DestinationRules } from './destination.ts';
import type { Language } from './languages.ts';
import type { PasswordPolicy } from './password-rules.ts';
import type { RegistrationAnswer, SessionAnswer } from './payloads.ts';
import type { LoginFailType } from './reasons.ts';
import { screenPaths } from './screens.ts';

/** What the operator sets for every page: the addresses of the logo, `dark` on dark screens, or null for the built-in mark. */
export type Branding = {
  name: string;
  logo: { src: string; dark?: string } | null;
  links: { support: string; imprint: string; solutions: string };
};

/** Refusals that get a readable page of their own; each has texts `problem-NNN-title` and `-text`. */
export const problemStatuses = [400, 403, 405, 413, 415, 421, 429, 431, 500, 502, 503, 504] as const;
export type ProblemStatus = (typeof problemStatuses)[number];

/** What each screen shows, by its name: those with an address of their own, and those without. */
export type PageScreen =
  | { name: 'login' | 'forgotten' | 'emailInfo' }
  | { name: 'loginFail'; type: LoginFailType }
  /** `connections`: those that match the typed address. */
  | { name: 'singleSignOn'; connections?: { key: string; name: string }[] }
  /** `resetHash`: kept for this browser, for a form opened without one in its address. */
  | { name: 'forgottenChange'; resetHash?: string; invitation?: true }
  /** `invitation`: the link is one, and the document has the words of one. */
  | { name: 'forgottenChangedInfo' | 'forgottenChangeFailedInfo'; invitation?: true }
  | { name: 'twoFactor'; secondFactor?: OpenSecondFactor }
  /** `registration`: what an authenticator app needs; a script that runs fetches it again. */
  | { name: 'twoFactorRegistration'; secondFactor?: OpenSecondFactor; registration?: RegistrationAnswer }
  | { name: 'notFound' }
  | ScreenWithoutAddress;

export type ScreenOf<Name extends PageScreen['name']> = Extract<PageScreen, { name: Name }>;

type ScreenWithoutAddress =
  | { name: 'signedIn'; person: Omit<SessionAnswer, 'language' | 'signedInAt' | 'expiresAt'> }
  /** `query`: what the sign-out was asked for besides; `account`: who is signed in. */
  | { name: 'signOutConfirm'; query: Record<string, string>; account: string }
  /** Shown after registering an app or using a recovery code; `codes` is null once they are no longer shown. */
  | { name: 'recoveryCodes'; codes: string[] | null; left: number; destination: string }
  /** Redirects to an identity provider to sign in or out; by a form if there are fields. */
  | { name: 'leaving'; isSignOut: boolean; url: string; provider: string; fields?: Record<string, string> }
  /**
   * This sign-in may not set up an app for the whole account, because it is too old, came through a provider, or from a
   * network that does not open all of it, or by the password of somebody who has a passkey. `comesBackTo` follows another
   * sign-in, null if that does not help; `goesOnTo` continues without an app, null if one is required.
   */
  | {
      name: 'registerElsewhere';
      why: 'tooOld' | 'provider' | 'network' | 'passkey';
      comesBackTo: string | null;
      goesOnTo: string | null;
      hasPasskey?: true;
    }
  /** For somebody signed in, by a proxy: the page `comesBackTo` is only for customers who aren't theirs. */
  | { name: 'notForYou'; username: string; comesBackTo: string }
  /** `hasForm`: the sign-in form, for somebody whose sign-in it answers; `proxy`: whose mistake it is. */
  | {
      name: 'problem';
      status: ProblemStatus;
      retryAfterSeconds: number | null;
      hasForm?: true;
      again?: Again;
      proxy?: string;
    };

/** Whether a screen has an address of its own, so that others can be shown without another document. */
export function hasAddress(screen: PageScreen): screen is Exclude<PageScreen, ScreenWithoutAddress> {
  return screen.name in screenPaths || screen.name === 'loginFail' || screen.name === 'notFound';
}

/** How to try again: the same address, the same to a call, or, if nobody knows what the hub did, back to its form. */
export type Again = 'open' | 'goBack' | { call: Call; query?: Sent; fields?: Sent };
type Sent = Record<string, string | undefined>;

/** What the server knows of the session behind a second-factor screen: half-signed-in, unless `goesOnTo` is set. */
export type OpenSecondFactor = {
  account: string;
  /** Whether "do not ask again on this device" may be offered. */
  mayRemember: boolean;
  mayRecover: boolean;
  hasPasskey?: true;
  /** Email codes: seconds until another may be sent; null if no more may be. */
  sendAgainAfter: number | null;
  /** Email codes: none was sent for this sign-in, because the account had got too many. */
  isCodeNotSent?: true;
  /** For a signed-in user who sets up an app voluntarily: where cancelling leads. */
  goesOnTo?: string;
};

/** All that the server tells a page. Browsers read it, so that it holds nothing that the visitor may not see. */
export type Page = {
  language: Language;
  /** Path and query as requested; the fragment never reaches the server. */
  url: string;
  branding: Branding;
  rules: DestinationRules;
  passwordPolicy: PasswordPolicy;
  /** The name typed before a refused sign-in, to prefill the form. */
  typedUsername: string;
  /** The short reference of the refusal that the page is about, for `vestibule explain`. */
  reference: string | null;
  /** It is the first page after a sign-out in this browser. */
  isSignedOut?: true;
  /** The page answers a posted form: `url` is the address of what it shows, not the one in the address bar. */
  isAnswer?: true;
  /** Passkeys can be used at this address; a browser may still have none. */
  passkeys?: true;
  /** Written to a file, for a backend that isn't ours (docs/branding.md): what only our server knows is left out. */
  isStatic?: true;
  screen: PageScreen;
};

/** The operator's own texts, which replace ours, by language and key. */
export type OwnTexts = Partial<Record<Language, Readonly<Record<string, string>>>>;

/** A page as its document carries it, with the texts that replace those of its language's file. */
export type RenderedPage = Page & { ownTexts?: OwnTexts };
