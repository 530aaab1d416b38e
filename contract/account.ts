import type { Language } from './languages.ts';
import type { RegistrationAnswer } from './payloads.ts';
import type { ChangeFailedReason } from './reasons.ts';
import { type Query, withQuery } from './screens.ts';

/** The sections of the account page, with their paths below `/account`. */
export const accountSections = {
  overview: '',
  password: '/password',
  passkeys: '/passkeys',
  app: '/app',
  recoveryCodes: '/recovery-codes',
  devices: '/devices',
  sessions: '/sessions',
  signIns: '/sign-ins',
} as const;

export type AccountSection = keyof typeof accountSections;

export const accountPath = '/account';

/** The fields that every form of the account page has: the session whose page it is on, and what it does. */
export const accountFields = { sessionId: 'session', action: 'do', begun: 'for' } as const;

/** The section that a path below the base path names; null if it is none. One trailing slash does not matter. */
export function accountSectionOf(below: string): AccountSection | null {
  if (below !== accountPath && !below.startsWith(`${accountPath}/`)) return null;
  const path = below.slice(accountPath.length).replace(/\/$/, '');
  return (Object.keys(accountSections) as AccountSection[]).find((name) => accountSections[name] === path) ?? null;
}

/** The address of a section with its query; undefined values are omitted. */
export function accountUrl(basePath: string, section: AccountSection, query: Query = {}): string {
  return withQuery(basePath + accountPath + accountSections[section], query);
}

/** What has just happened on the account page (`?notice=…`), and whether that is good; each has its text `account-notice-…`. */
export const accountNotices = {
  passwordChanged: 'good',
  passwordWrong: 'bad',
  passwordRefused: 'bad',
  entryMissing: 'bad',
  codeWrong: 'bad',
  proven: 'good',
  tooManyAttempts: 'bad',
  otherSession: 'bad',
  notPossible: 'bad',
  changedMeanwhile: 'bad',
  passkeyAdded: 'good',
  passkeyRenamed: 'good',
  passkeyRemoved: 'good',
  passkeyRefused: 'bad',
  passkeyName: 'bad',
  passkeyGone: 'bad',
  appReplaced: 'good',
  appRemoved: 'good',
  deviceForgotten: 'good',
  devicesForgotten: 'good',
  sessionEnded: 'good',
  sessionsEnded: 'good',
  languageChosen: 'good',
  factorKept: 'good',
} as const;
export type AccountNotice = keyof typeof accountNotices;

/** How a person proves once more who they are: `signIn` at their provider, where nothing can be asked here. */
export type AskedProof = 'password' | 'code' | 'signIn';

/** What a section shows besides the frame. Times are in ISO 8601. */
export type AccountView =
  | {
      name: 'overview';
      email: string;
      displayName: string | null;
      customers: string[];
      groups: string[];
      /** Null: as the browser says. */
      language: Language | null;
      isPart: boolean;
      hasDesk: boolean;
      isPasswordOpen: boolean;
      passkeys: string[];
      appSince: Date | null;
      recoveryCodesLeft: number;
      devices: number;
      sessions: AccountSession[];
      signIns: AccountSignIn[];
      /** What others did to the account lately, newest first, with texts `event-…`. */
      support: { at: Date; event: string }[];
      /** When support's reset of the second factor takes effect. */
      resetAt: Date | null;
    }
  | {
      name: 'passkeys';
      /**
       * `off`: none can be made for this address; `useless`: none would open this account; `elsewhere`: only where all networks
       * admit the person; `signInAgain`: this sign-in did not prove
       * enough.
       */
      state: 'open' | 'part' | 'useless' | 'elsewhere' | 'signInAgain' | 'off';
      isFull: boolean;
      /** Whether one may be added without another proof. */
      isProven: boolean;
      passkeys: {
        id: string;
        name: string;
        provider: string | null;
        madeAt: Date;
        lastUsedAt: Date | null;
      }[];
    }
  | { name: 'password'; username: string; state: 'open' | 'none' | 'forbidden' | 'part' }
  | {
      name: 'app';
      since: Date | null;
      isRequired: boolean;
      isPart: boolean;
      /** What the next app reads, while it is being replaced. */
      next: RegistrationAnswer | null;
    }
  | { name: 'recoveryCodes'; left: number; hasApp: boolean; isPart: boolean }
  | { name: 'devices'; devices: (Listed & { lastUsedAt: Date; endsAt: Date })[]; isPart: boolean }
  | { name: 'sessions'; sessions: AccountSession[] }
  | { name: 'signIns'; signIns: AccountSignIn[] };

export type ViewOf<Name extends AccountView['name']> = Extract<AccountView, { name: Name }>;

/** A browser in a list; `id` opens nothing, `isThis`: it shows the page. */
type Listed = { id: string; browser: string | null; address: string; isThis: boolean };

/** `provider`: its name; null for a password. */
export type AccountSession = Listed & { signedInAt: Date; lastSeenAt: Date; provider: string | null };

export type AccountSignIn = {
  at: Date;
  /** Each has its text `account-outcome-…`. */
  outcome: 'signedIn' | 'passwordWrong' | 'codeWrong' | 'tooManyAttempts' | 'refused';
  browser: string | null;
  address: string | null;
  provider: string | null;
  isByPasskey: boolean;
};

/** What the account page tells its document besides what every page is told. */
export type AccountPage = {
  section: AccountSection;
  view: AccountView;
  username: string;
  /** Names the session that the page belongs to; opens nothing. */
  sessionId: string;
  notice: AccountNotice | null;
  reason: ChangeFailedReason | null;
  /** What was begun, by its name; with `ask` if it needs a proof first. */
  begun: string | null;
  ask: AskedProof | null;
  /** The fields of what was begun that are no secrets. */
  kept: Record<string, string>;
};
