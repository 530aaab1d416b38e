-- Ceremonies of a signed-in person beside an enrolment: a proof on the account page (docs/decisions/0051), and a passkey that the
-- browser makes by itself after a password (docs/decisions/0056). Both belong to the session that begins them. Those of
-- invitations are in the list as well (0050).
alter table passkey_challenge
  drop constraint passkey_challenge_purpose_check,
  drop constraint passkey_challenge_check,
  add constraint passkey_challenge_purpose_check
    check (purpose in ('sign-in', 'second-factor', 'enrol', 'invitation', 'upgrade', 'prove')),
  add constraint passkey_challenge_check
    check ((session_hash is not null) = (purpose in ('enrol', 'upgrade', 'prove')));

-- The passkey that a session's last proof was given by, whose removal takes that proof back; null for a password or a code. No
-- reference, as with the passkey that opened the session.
alter table session
  add column fresh_proof_passkey_id uuid;

-- When this browser has made a passkey by itself for the user, which it is asked for until then.
alter table device
  add column passkey_made_at timestamptz;
