-- Whether a customer's people sign in by passkey, and by no password (docs/decisions/0055).
alter table customer
  drop constraint customer_passkeys_check,
  add constraint customer_passkeys_check check (passkeys in ('off', 'on', 'only'));

-- A ceremony that an open invitation begins belongs to its link.
alter table passkey_challenge
  add column link_hash bytea check (octet_length(link_hash) = 32),
  drop constraint passkey_challenge_purpose_check,
  add constraint passkey_challenge_purpose_check check (purpose in ('sign-in', 'second-factor', 'enrol', 'invitation')),
  add constraint passkey_challenge_link_check check ((link_hash is not null) = (purpose = 'invitation'));

-- Who has asked for a link to a new password, and signs in by passkey only, is told so.
alter table mail
  drop constraint mail_kind_check,
  add constraint mail_kind_check check (kind in ('resetLink', 'singleSignOnHint', 'passkeyHint', 'passwordChanged', 'newDevice',
    'signInCode', 'secondFactorAdded', 'secondFactorRemoved', 'appReplaced', 'appRemoved', 'recoveryCodesMade',
    'devicesForgotten', 'sessionsEnded', 'passkeyAdded', 'passkeyRemoved', 'invitation'));
