/** Everything that is recorded, each with what it means; docs/events.md has a row for each. */
export const auditEvents = {
  'signed-in': 'A user is signed in.',
  'second-factor-asked': 'The password was right and a second factor is open.',
  'sign-in-refused': 'A sign-in was refused; the reason says why.',
  'signed-out': 'A user signed out.',
  'destination-refused': 'A sign-in asked for a destination that is not acceptable and went to the default one.',
  'request-refused': 'A state-changing request came from another site; nothing changed.',
  'customer-added': 'An operator added a customer.',
  'customer-changed': 'An operator changed a customer.',
  'customer-removed': 'An operator removed a customer.',
  'user-added': 'An operator added a user.',
  'user-changed': 'An operator changed a user.',
  'user-removed': 'An operator removed a user.',
  'user-unlocked': 'An operator cleared the waits of a user.',
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
