/** Why the answer of a ceremony with a passkey was refused, for operators only; people see one page, or notice, for all of them. */
export const passkeyRefusalReasons = {
  malformed: 'The answer is not in the form of its ceremony.',
  'challenge-unknown':
    'The answer belongs to no ceremony of this browser, or to one that has expired, was answered before, or was begun for something else.',
  'wrong-signature': 'The signature is not of the passkey.',
  'answer-invalid': 'The answer failed a check; the steps say which.',
  'unknown-passkey': 'No user has this passkey, or not any more.',
  'other-user':
    'The passkey is of a user other than the one that the authenticator names, or than the one who signs in or proves who they are.',
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
  'session-over': 'The session that began the enrolment, or the proof, has ended, or may not enrol any more.',
} as const;

export type PasskeyRefusalReason = keyof typeof passkeyRefusalReasons;
