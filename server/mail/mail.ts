import type { Language } from '#contract/languages.ts';

/** What a mail is about; the texts of each begin with `mail-` and its name. */
export const mailKinds = [
  'resetLink',
  'singleSignOnHint',
  'passwordChanged',
  'newDevice',
  'signInCode',
  'secondFactorAdded',
  'secondFactorRemoved',
] as const;
export type MailKind = (typeof mailKinds)[number];

/** What a text says about the event that it tells of; nothing secret. */
export type MailDetails = {
  /** The name of the account. */
  username: string;
  /** When it happened, ISO 8601. */
  at: string;
  /** From which address, as far as it is known. */
  address?: string;
  /** With which browser, in words such as `Firefox, Windows`. */
  browser?: string;
  /** How long a code is good from then on, in milliseconds. */
  validFor?: number;
};

/** A mail as it waits to be sent; it is worded when it leaves. */
export type Mail = {
  id: string;
  kind: MailKind;
  /** The stored address of the account, never a text that somebody typed. */
  recipient: string;
  language: Language;
  queuedAt: Date;
  details: MailDetails;
  /** The token of a reset link, or the six digits of a code; null for the kinds that carry neither. */
  token: string | null;
};

/** A mail in words. */
export type WordedMail = { subject: string; text: string; html: string };
