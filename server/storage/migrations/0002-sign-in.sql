-- Who is in, from which browser, how often it was tried, and what happened.

create table session (
  -- SHA-256 of the token; the token itself is only in the browser.
  token_hash bytea primary key,
  user_id uuid not null references portal_user on delete cascade,
  stage text not null check (stage in ('half', 'full')),
  -- The customers that admitted the address at sign-in; the session is limited to them (decisions §7).
  customer_ids uuid[] not null,
  address inet not null,
  created_at timestamptz not null,
  last_seen_at timestamptz not null,
  ends_at timestamptz not null
);
create index session_user on session (user_id);
create index session_ends_at on session (ends_at);

-- A browser that signed in before as this user: its right password is never kept out by somebody else's guesses.
create table device (
  token_hash bytea not null,
  user_id uuid not null references portal_user on delete cascade,
  last_used_at timestamptz not null,
  primary key (token_hash, user_id)
);
create index device_last_used_at on device (last_used_at);

-- Counts of failed guesses per account, address, network, device and in all. They leak away with time.
create table throttle (
  key text primary key,
  failures double precision not null,
  changed_at timestamptz not null,
  blocked_until timestamptz,
  -- A keyed digest of the last guess: the same wrong password twice in a row counts once (decisions §13).
  last_guess bytea
) with (fillfactor = 70);
create index throttle_changed_at on throttle (changed_at);

create table audit_event (
  id bigint generated always as identity primary key,
  at timestamptz not null,
  event text not null,
  reason text,
  reference text,
  -- No foreign keys: the record outlives what it tells of.
  user_id uuid,
  username text,
  customer_key text,
  connection text,
  address inet,
  request_id text,
  -- The chain of decisions, in order, each with its outcome.
  steps jsonb not null default '[]'
);
create index audit_event_at on audit_event using brin (at);
create index audit_event_reference on audit_event (reference) where reference is not null;
create index audit_event_user on audit_event (user_id, id) where user_id is not null;
