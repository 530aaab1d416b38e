-- The second factor: what a half-signed-in session waits for, and what each user has registered.

-- The factor that a half session waits for, and whether it is still to be registered.
alter table session
  add column factor text check (factor in ('app', 'email')),
  add column must_register boolean not null default false,
  -- Codes that were tried in this half session, whether they were right or not.
  add column code_tries integer not null default 0,
  add column clock_told boolean not null default false;

alter table customer add column remember_devices boolean not null default true;

-- A confirmed authenticator app.
create table totp (
  user_id uuid primary key references portal_user on delete cascade,
  -- Sealed and bound to the user (secrets/sealed.ts).
  sealed_secret bytea not null,
  -- The last time step that was accepted; steps only go up (RFC 6238 §5.2).
  last_step bigint not null,
  confirmed_at timestamptz not null
);

-- A secret that is shown to be confirmed, in the one session that asked for it: nobody else's look at it counts.
create table pending_totp (
  session_hash bytea primary key,
  user_id uuid not null,
  sealed_secret bytea not null,
  made_at timestamptz not null
);

-- Users who have proven once that codes by e-mail reach them.
create table email_factor (
  user_id uuid primary key references portal_user on delete cascade,
  confirmed_at timestamptz not null
);

-- The one code that a half session waits for by e-mail.
create table email_code (
  session_hash bytea primary key,
  user_id uuid not null,
  -- Keyed and bound to the session: six digits could be tried through in no time.
  code_hash bytea not null,
  made_at timestamptz not null,
  ends_at timestamptz not null,
  sent integer not null default 1
);

create table recovery_code (
  user_id uuid not null references portal_user on delete cascade,
  -- Keyed and bound to the user.
  code_hash bytea not null,
  used_at timestamptz,
  primary key (user_id, code_hash)
);

-- The codes in the clear, sealed, for as long as they may be shown: to who has just registered.
create table shown_recovery_codes (
  user_id uuid primary key references portal_user on delete cascade,
  sealed_codes bytea not null,
  shown_until timestamptz not null
);

-- A browser that need not be asked for a code.
create table remembered_device (
  id uuid primary key default gen_random_uuid(),
  token_hash bytea not null unique,
  user_id uuid not null references portal_user on delete cascade,
  browser text,
  address inet not null,
  made_at timestamptz not null,
  last_used_at timestamptz not null,
  ends_at timestamptz not null
);
create index remembered_device_by_user on remembered_device (user_id);

alter table mail drop constraint mail_kind_check;
alter table mail add constraint mail_kind_check check (
  kind in ('resetLink', 'singleSignOnHint', 'passwordChanged', 'newDevice', 'signInCode', 'secondFactorAdded', 'secondFactorRemoved')
);
create function session_ended() returns trigger language plpgsql as $$
begin
  delete from pending_totp where session_hash in (select token_hash from ended);
  delete from email_code where session_hash in (select token_hash from ended);
  return null;
end $$;
create trigger session_ended after delete on session referencing old table as ended
  for each statement execute function session_ended();
