import type { Language } from '#contract/languages.ts';

/** The kinds of email, with texts `mail-…`: notices tell of what has happened, the others help somebody in. */
const kinds = {
  resetLink: 'help',
  invitation: 'help',
  singleSignOnHint: 'help',
  noReset: 'help',
  passwordChanged: 'notice',
  emailChanged: 'notice',
  newDevice: 'notice',
  signInCode: 'help',
  secondFactorAdded: 'notice',
  secondFactorRemoved: 'notice',
  secondFactorResetSoon: 'notice',
  passkeyAdded: 'notice',
  passkeyRemoved: 'notice',
  appReplaced: 'notice',
  appRemoved: 'notice',
  recoveryCodesMade: 'notice',
  devicesForgotten: 'notice',
  sessionsEnded: 'notice',
} as const;
export type MailKind = keyof typeof kinds;
type NoticeKind = { [Kind in MailKind]: (typeof kinds)[Kind] extends 'notice' ? Kind : never }[MailKind];

export const mailKinds = Object.keys(kinds) as MailKind[];

export function isNotice(kind: MailKind): kind is NoticeKind {
  return kinds[kind] === 'notice';
}

/** Whether somebody waits for an email before they can go on. */
export function isWaitedFor(kind: MailKind): boolean {
  return kinds[kind] === 'help' && kind !== 'invitation';
}

/** What an email says about its event, and where its link leads; nothing secret. */
export type MailDetails = {
  username: string;
  /** When it happened, ISO 8601. */
  at: string;
  address?: string;
  /** The browser, in words such as `Firefox, Windows`. */
  browser?: string;
  passkey?: string;
  /** When what it tells of takes effect, ISO 8601; absent if it has. */
  takesEffectAt?: string;
  /** How many passkeys a replaced password leaves; absent for none. */
  passkeys?: number;
  /** How long a code remains valid from then on, in milliseconds. */
  validFor?: number;
  /** The page that the reader asked for, which a link leads to in the end. */
  destination?: string;
};

/** A queued email; it is composed when sent. */
export type Mail = {
  id: string;
  kind: MailKind;
  /** The stored address of the account, never text from a visitor. */
  recipient: string;
  language: Language;
  queuedAt: Date;
  details: MailDetails;
  /** The token of a reset link or invitation, or the six digits of a code; null for kinds that carry neither. */
  token: string | null;
};

/** A composed email. */
export type WordedMail = {
  subject: string;
  text: string;
  html: string;
  /** The name it comes from; the sender's own if absent. */
  from?: string;
};
