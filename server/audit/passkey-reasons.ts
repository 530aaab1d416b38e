/** Why the answer of a ceremony with a passkey was refused, for operators only; people see one page, or notice, for all of them. */
export const passkeyRefusalReasons = {
  malformed: 'The answer is not in the form of its ceremony, or a part of it is too long.',
  'challenge-unknown':
    'The answer belongs to no ceremony of this browser, or to one that has expired, was answered before, or was begun for something else.',
  'wrong-type': 'The answer is of another ceremony: one that enrols instead of one that signs in, or the reverse.',
  'wrong-origin': 'The answer was made for a page of another origin.',
  'cross-origin': 'The answer was made in a frame on a page of another origin.',
  'wrong-relying-party': 'The answer was made for another relying party.',
  'not-present': 'The authenticator does not say that a person was present.',
  'not-verified': 'The authenticator does not say that it verified the person.',
  'backup-flags': 'The backup flags contradict each other, or those of the enrolment.',
  'wrong-signature': 'The signature is not of the passkey.',
  'answer-invalid': 'The answer failed a check of the library; the steps quote it.',
  'unknown-passkey': 'No user has this passkey, or not any more.',
  'other-user':
    'The passkey is of a user other than the one that the authenticator names, or than the one who signs in or proves who they are.',
  'sign-in-over':
    'The sign-in that a password began has ended, or somebody has signed in or out in this browser meanwhile.',
  'by-provider': 'The sign-in that the passkey was to complete began at a provider, and is completed by a code.',
  'counter-back': 'The signature counter has not moved on: the passkey may have been copied.',
  inactive: 'The user is inactive.',
  'no-customer': 'No active customer is assigned to the user.',
  'passkeys-off': 'None of the customers lets its people sign in by passkey; in place of a code, not all do.',
  'single-sign-on-required': 'The domain of the user requires single sign-on.',
  network: 'None of the customers that allow passkeys admits the address.',
  throttled: 'Too many answers from this address were refused; this one was not looked at.',
  'algorithm-not-offered': 'The new passkey has a key of an algorithm that was not offered.',
  'key-unusable': 'The key of the new passkey is too short, too long, or not a key.',
  attestation: 'The new passkey came with an attestation, which was not asked for.',
  'already-enrolled': 'The new passkey is enrolled already.',
  'too-many-passkeys': 'The user has as many passkeys as one user may have.',
  'session-over': 'The session that began the enrolment, or the proof, has ended, or may not enrol any more.',
} as const;

export type PasskeyRefusalReason = keyof typeof passkeyRefusalReasons;
