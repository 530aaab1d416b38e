import type { ChangeFailedReason } from '#contract/reasons.ts';

/** Every recorded event and its meaning, as docs/events.md has them too. */
export const auditEvents = {
  'signed-in': 'A user is signed in.',
  'second-factor-asked': 'The first factor was right; another one was requested.',
  'code-not-sent': 'The account had received too many codes.',
  'code-refused': 'A code was wrong.',
  'code-throttled': 'Too many codes were wrong, so this one was not checked.',
  'second-factor-ended': 'Too many codes were tried; the half session ended.',
  'sign-in-refused': 'A sign-in was refused.',
  'sso-started': 'A visitor was sent to an identity provider.',
  'sso-refused': 'A sign-in by an identity provider was refused.',
  'passkey-refused': 'A sign-in by passkey was refused.',
  'passkey-not-added': 'A new passkey was refused.',
  'passkey-added': 'A user enrolled a passkey.',
  'passkey-renamed': 'A user renamed a passkey.',
  'passkey-removed': 'A user or an operator removed a passkey.',
  'signed-out': 'A user signed out.',
  'signed-out-by-provider': 'An identity provider ended its sessions.',
  'provider-logout-refused': 'A logout request of an identity provider was refused.',
  'password-forgotten': 'A reset link was requested; the reason is the outcome.',
  'password-changed': 'A user chose a new password.',
  'password-change-refused': 'A new password or its link was refused.',
  'fresh-proof-given': 'A signed-in user proved who they are.',
  'fresh-proof-refused': 'Such a proof was refused.',
  'account-change-refused': 'A change on the account page was refused.',
  'app-replaced': 'A user replaced their app.',
  'app-removed': 'A user removed their app.',
  'recovery-codes-made': 'A user replaced their recovery codes.',
  'own-devices-forgotten': 'A user revoked remembered devices.',
  'own-sessions-ended': 'A user ended other sessions.',
  'language-chosen': 'A user chose the language of emails and hub.',
  'mail-given-up': 'An email could not be delivered within a day.',
  'destination-refused': 'A destination that is not allowed was asked for.',
  'desk-refused': 'Somebody at the desk asked for what is not theirs.',
  'request-refused': 'A change was requested by another site.',
  'proxy-not-trusted': 'A proxy that trustedProxies lacks sent X-Forwarded headers.',
  'access-refused': 'A rule kept a user out of a page of the hub.',
  'customer-added': 'An operator added a customer.',
  'customer-changed': 'An operator changed a customer.',
  'customer-removed': 'An operator removed a customer.',
  'user-added': 'An operator added a user.',
  'user-imported': 'An operator imported a user from another system.',
  'users-imported': 'Somebody at the desk added people from a file.',
  'user-changed': 'An operator changed a user.',
  'user-removed': 'An operator removed a user.',
  'user-unlocked': 'An operator unlocked a user.',
  'user-signed-out': 'An operator signed a user out.',
  'two-factor-registered': 'A user set up an app.',
  'two-factor-reset-begun': "Support asked for a reset of a user's second factor, which is an hour ahead.",
  'two-factor-reset-kept': 'Such a reset was called off, by support or by the user.',
  'two-factor-reset': "An operator removed a user's second factor.",
  'connection-added': 'An operator added a connection.',
  'connection-changed': 'An operator changed a connection.',
  'connection-metadata-changed': "A SAML provider's metadata changed; nothing was applied.",
  'connection-removed': 'An operator removed a connection.',
  'connection-unlinked': 'An operator unlinked a user from a provider.',
  'portal-key-changed': 'An operator published, used or withdrew a key of the portal.',
  'hub-logout-given-up': 'A hub could not be told of a sign-out within a day.',
  'hub-keys-rolled': 'New keys for hub tokens were published.',
  'backup-written': 'An operator wrote a backup.',
  'backup-restored': 'An operator replaced the database by a backup.',
  'users-exported': 'An operator exported users.',
  'secrets-renewed': 'An operator resealed secrets under the first one.',
  invited: 'An operator invited a user.',
  'invitation-used': 'An invited user chose a password.',
  'reset-link-made': 'An operator made a reset link.',
  'reset-link-mailed': 'Support mailed a user a reset link.',
} as const;

type AuditEventName = keyof typeof auditEvents;

/** Why a sign-in was refused, for operators only; visitors see only what `/loginfail/…` says. */
export const refusalReasons = {
  'unknown-user': 'No user has this name.',
  'no-password': 'The user has no password.',
  'wrong-password': 'The password was wrong.',
  inactive: 'The password was right; the user is inactive.',
  'no-customer': 'The password was right; the user has no active customer.',
  network: 'The password was right; no customer admits the address.',
  'throttled-account': 'Too many wrong passwords for this account.',
  'throttled-device': 'Too many wrong passwords from this known browser.',
  'throttled-address': 'Too many failures from this address, its network or overall.',
  'single-sign-on-required': "The user's domain requires single sign-on.",
} as const;

export type RefusalReason = keyof typeof refusalReasons;

/** Why a sign-in through an identity provider was refused, for operators only. */
export const ssoRefusalReasons = {
  'unknown-domain': 'No connection vouches for the domain of the address.',
  'connection-disabled': 'The connection, or its customer, is disabled.',
  'connection-broken': 'The connection cannot be used as it is set up.',
  'provider-unreachable': 'The identity provider did not answer in time, or gave an invalid answer.',
  'provider-refused': 'The identity provider denied access; the steps quote it.',
  'other-browser': 'The answer came from another browser, or from one that lost its cookies.',
  'request-unknown': 'The answer belongs to no visit of this browser, or to one that was used or has ended.',
  'answer-invalid': 'The answer of the identity provider failed a check; the steps say which.',
  'provider-session-over': 'The session at the provider has ended, as the provider itself says.',
  'provider-began': 'The identity provider started the sign-in, which the connection does not allow.',
  'foreign-domain': 'The address is in a domain for which the connection does not vouch.',
  'unverified-email': 'The identity provider does not say that the email address is verified.',
  'unknown-user': 'No user of the customer is linked to the subject or has the email address.',
  'other-subject': 'The user with this email address is linked to another subject of the same provider.',
  'signed-in-as-other': 'Somebody else was signed in in the browser, and stays so; the page offered to sign out.',
  'name-taken': 'The user cannot be created: someone else has the email address or username.',
  inactive: 'The user is inactive.',
  network: 'The customer does not admit the address.',
  throttled: 'Too many single sign-on attempts were started from this address.',
} as const;

export type SsoRefusalReason = keyof typeof ssoRefusalReasons;

/** The outcome of a request for a reset link, for operators only; the requester sees the same in every case. */
export const resetOutcomes = {
  'link-mailed': 'An email with a link was queued.',
  'single-sign-on-mailed': 'The user cannot have a password; an email says how they sign in.',
  'unknown-user': 'No user has this name.',
  'no-reset-mailed': 'No link can help this user; an email says so.',
  'too-many-mails': 'Too many emails within the hour; the newest link still works.',
  'throttled-address': 'Too many requests from this address, its network or overall.',
  'given-up': 'The request could not be answered within a day.',
} as const;

export type ResetOutcome = keyof typeof resetOutcomes;

/** Why a proof or a form of the account page was refused, for operators; `password-change-refused` there has those of proofs. */
export const accountRefusalReasons = {
  'wrong-password': 'The current password was wrong.',
  'wrong-code': 'The code was wrong or used.',
  'throttled-account': 'Too many wrong passwords for this account.',
  'throttled-device': 'Too many wrong passwords from this known browser.',
  'throttled-address': 'Too many failures from this address, its network or overall.',
  'throttled-code': 'Too many wrong codes for this account.',
  'throttled-changes': 'Too many changes of this kind.',
  'not-possible': 'The account or session may not do that, or it names something unknown.',
  'entry-missing': 'An entry was missing.',
  'entry-refused': 'The name of a passkey has 1 to 60 characters, none of them control characters.',
  'changed-meanwhile': 'The account changed meanwhile.',
  'no-fresh-proof': 'The proof was missing, or more than ten minutes old.',
} as const;

export type AccountRefusalReason = keyof typeof accountRefusalReasons;

/** Why a new password was refused: the number that the visitor sees, in the operator's words. */
export const changeRefusalReasons: Record<`${ChangeFailedReason}` | 'network' | 'throttled', string> = {
  1: 'The password is too weak.',
  2: 'The account behind the link is gone.',
  3: 'The link has expired, was used or replaced.',
  4: 'The link is unknown, or the account changed meanwhile.',
  5: 'The two entries differ.',
  6: 'The entry is not a valid password.',
  7: 'The account is inactive.',
  8: 'The account may not change its password.',
  9: 'The password does not meet the criteria.',
  10: 'The account has no customer.',
  11: 'The password is one of the last ten.',
  network: 'No customer admits the address.',
  throttled: 'Too many unknown links from this address, or changes of this user.',
};

/** One decision that led to an answer, in words for the operator; never a password, code, token or secret. */
export type AuditStep = { step: string; outcome: string };

/**
 * The fields of an event besides its time; absent means unknown or not applicable. `customerKey` holds several keys with a
 * comma in between, if the user has several customers; `connectionId` stands for `connection`, the key, where only the id
 * is known.
 */
export type AuditEvent = {
  event: AuditEventName;
  reason?: string;
  reference?: string;
  userId?: string;
  username?: string;
  customerKey?: string;
  connection?: string;
  connectionId?: string;
  address?: string;
  /** As people call it, for whom to recognise their own sign-ins. */
  browser?: string | null;
  requestId?: string;
  steps?: AuditStep[];
  /** Who did it: `os:alice` by a command, or the username of who did it on their account page. */
  actor?: string;
};

/** Who does something, and when, for its event; at the desk also by which request, whose reference the next page shows. */
export type By = { actor: string; now: Date } & Pick<AuditEvent, 'requestId' | 'reference' | 'address'>;

/** The same of a change that is made of what somebody saw: up to which act (`newestActOn`). Without it nothing is compared. */
export type ByWhoSaw = By & { seen?: string | undefined };

/** The customers of an event, each once, by their keys. */
export function customersOfEvent(customers: readonly (string | { key: string })[]): Pick<AuditEvent, 'customerKey'> {
  const keys = new Set(customers.map((customer) => (typeof customer === 'string' ? customer : customer.key)));
  return keys.size === 0 ? {} : { customerKey: [...keys].join(', ') };
}

/** Why the answer of a ceremony with a passkey was refused, for operators only; people see one page, or notice, for all of them. */
export const passkeyRefusalReasons = {
  malformed: 'The answer is not in the form of its ceremony.',
  'challenge-unknown':
    'The answer belongs to no ceremony of this browser, or to one that has expired, was answered before, or was begun for something else.',
  'wrong-signature': 'The signature is not of the passkey.',
  'answer-invalid': 'The answer failed a check; the steps say which.',
  'unknown-passkey': 'No user has this passkey, or not any more.',
  'other-user':
    'The passkey is of a user other than the one that the authenticator names, or than the one who signs in.',
  'by-provider': 'The sign-in that the passkey was to complete began at a provider, and is completed by a code.',
  'counter-back': 'The signature counter has not moved on: the passkey may have been copied.',
  inactive: 'The user is inactive.',
  'no-customer': 'No active customer is assigned to the user.',
  'passkeys-off': 'None of the customers lets its people sign in by passkey; in place of a code, not all do.',
  'single-sign-on-required': 'The domain of the user requires single sign-on.',
  network: 'None of the customers that allow passkeys admits the address.',
  throttled: 'Too many answers from this address were refused; this one was not looked at.',
  'already-enrolled': 'The new passkey is enrolled already.',
  'too-many-passkeys': 'The user has as many passkeys as one user may have.',
  'session-over': 'The session that began the enrolment has ended, or may not enrol any more.',
} as const;

export type PasskeyRefusalReason = keyof typeof passkeyRefusalReasons;

/** The reasons of an event that has its own; the others are those of a refused sign-in. */
export const reasonsOfEvent: Record<string, Record<string, string>> = {
  'sso-refused': ssoRefusalReasons,
  'passkey-refused': passkeyRefusalReasons,
  'passkey-not-added': passkeyRefusalReasons,
  'password-forgotten': resetOutcomes,
  'password-change-refused': { ...accountRefusalReasons, ...changeRefusalReasons },
  'fresh-proof-refused': { ...accountRefusalReasons, ...passkeyRefusalReasons },
  'account-change-refused': accountRefusalReasons,
};

/** What a reason means; those of a changed password keep the number that the visitor saw. */
export function reasonInWords(event: string, reason: string): string {
  const words = (reasonsOfEvent[event] ?? (refusalReasons as Record<string, string>))[reason];
  if (!words) return reason;
  return /^\d/.test(reason) ? `${reason}: ${words}` : words;
}
