/** Everything that is recorded, each with what it means; docs/events.md has a row for each. */
export const auditEvents = {
  'signed-in': 'A user is signed in.',
  'second-factor-asked': 'The password was right and a second factor is open.',
  'code-refused': 'A code of the second factor was not right.',
  'second-factor-ended': 'Too many codes were tried: the password is asked again.',
  'sign-in-refused': 'A sign-in was refused; the reason says why.',
  'signed-out': 'A user signed out.',
  'password-forgotten': 'Somebody asked for a link to choose a new password; the reason says what came of it.',
  'password-changed': 'A user chose a new password by a link.',
  'password-change-refused': 'A new password was not accepted; the reason is its number.',
  'mail-given-up': 'A mail could not be delivered within a day and is not tried any more.',
  'destination-refused': 'A sign-in asked for a destination that is not acceptable and went to the default one.',
  'request-refused': 'A state-changing request came from another site; nothing changed.',
  'customer-added': 'An operator added a customer.',
  'customer-changed': 'An operator changed a customer.',
  'customer-removed': 'An operator removed a customer.',
  'user-added': 'An operator added a user.',
  'user-changed': 'An operator changed a user.',
  'user-removed': 'An operator removed a user.',
  'user-unlocked': 'An operator cleared the waits of a user.',
  'two-factor-registered': 'A signed-in user set up an authenticator app.',
  'two-factor-reset': 'An operator removed the second factor of a user.',
  'device-forgotten': "An operator made a user's remembered devices be asked for a code again.",
  'reset-link-made': 'An operator made a link for a user to choose a new password.',
} as const;

export type AuditEventName = keyof typeof auditEvents;

/** Why a sign-in was refused, for the operator alone; the visitor sees no more than `/loginfail/…` says. */
export const refusalReasons = {
  'unknown-user': 'No user has this name.',
  'no-password': 'The user has no password.',
  'wrong-password': 'The password was wrong.',
  inactive: 'The password was right, but the user is inactive.',
  'no-customer': 'The password was right, but no active customer is assigned to the user.',
  network: 'The password was right, but none of the customers admits the address.',
  'throttled-account': 'Too many wrong passwords for this account; the password was not looked at.',
  'throttled-device': 'Too many wrong passwords from this known browser; the password was not looked at.',
  'throttled-address': 'Too many failures from this address, its network or in all; the password was not looked at.',
  'changed-meanwhile': 'The password was right, but the user was changed while it was checked.',
} as const;

export type RefusalReason = keyof typeof refusalReasons;

/** What came of a request for a link, for the operator alone; whoever asked sees the same in every case. */
export const resetOutcomes = {
  'link-mailed': 'A mail with a link was queued.',
  'single-sign-on-mailed': 'The user has no password and may not set one: a mail says how he signs in.',
  'unknown-user': 'No user has this name; nothing was sent.',
  inactive: 'The user is inactive; nothing was sent.',
  'no-customer': 'No active customer is assigned to the user; nothing was sent.',
  'may-not-change': 'The user may not change the password; nothing was sent.',
  'on-its-way': 'A mail for the same user was on its way already; no second one was sent.',
  'too-many-mails': 'Too many mails were sent to this user within the hour; their links still work.',
  'throttled-address': 'Too many requests from this address, its network or in all; nobody was looked up.',
} as const;

export type ResetOutcome = keyof typeof resetOutcomes;

/** One decision on the way to an answer, in words for the operator; never a password, code, token or secret. */
export type AuditStep = { step: string; outcome: string };

/** What an event says besides its time; absent means unknown or not concerned. */
export type AuditEvent = {
  event: AuditEventName;
  reason?: string;
  reference?: string;
  userId?: string;
  username?: string;
  customerKey?: string;
  connection?: string;
  address?: string;
  requestId?: string;
  steps?: AuditStep[];
};
