-- Passkeys (docs/decisions/0052). Only public keys are stored: what is here signs nobody in.
create table passkey (
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null references portal_user on delete cascade,
  credential_id bytea not null unique check (octet_length(credential_id) between 16 and 1023),
  -- In COSE form (RFC 9052 §7), as the authenticator gave it.
  public_key bytea not null check (octet_length(public_key) between 32 and 2048),
  rp_id text not null,
  counter bigint not null,
  backup_eligible boolean not null,
  backed_up boolean not null,
  aaguid uuid not null,
  transports text[] not null default '{}',
  name text not null check (char_length(name) between 1 and 60),
  made_at timestamptz not null,
  last_used_at timestamptz
);
create index passkey_by_user on passkey (user_id);

-- The passkey that opened a session, whose removal ends it; null for every other way in. No reference: a user's passkeys may go
-- before their sessions.
alter table session
  add column passkey_id uuid;

-- A ceremony that a browser has begun. It is taken by the first answer, right or wrong.
create table passkey_challenge (
  challenge_hash bytea primary key check (octet_length(challenge_hash) = 32),
  browser_hash bytea not null check (octet_length(browser_hash) = 32),
  purpose text not null check (purpose in ('sign-in', 'second-factor', 'enrol')),
  -- Of the session that begins an enrolment.
  session_hash bytea check (octet_length(session_hash) = 32),
  ends_at timestamptz not null,
  check ((session_hash is not null) = (purpose = 'enrol'))
);
create index passkey_challenge_by_end on passkey_challenge (ends_at);

-- Whether the customer's people may sign in by passkey.
alter table customer
  add column passkeys text not null default 'on' check (passkeys in ('off', 'on'));

-- What people are told of them, beside all else. Invitations are in the list as well: a database may have had 0049 first.
alter table mail drop constraint mail_kind_check;
alter table mail add constraint mail_kind_check check (
  kind in ('resetLink', 'singleSignOnHint', 'passwordChanged', 'newDevice', 'signInCode', 'secondFactorAdded', 'secondFactorRemoved',
    'appReplaced', 'appRemoved', 'recoveryCodesMade', 'devicesForgotten', 'sessionsEnded', 'passkeyAdded', 'passkeyRemoved',
    'invitation')
);
