-- Keys that sign tokens for hubs. A key is published from when it is made until `ends_at`; the newest one whose `signs_from`
-- has come signs.
create table if not exists hub_key (
  -- Also the `kid` of its tokens.
  id uuid primary key,
  algorithm text not null check (algorithm in ('EdDSA', 'ES256')),
  -- The public part (RFC 7517).
  jwk jsonb not null,
  -- PKCS #8 in PEM, sealed and bound to this row.
  sealed_key bytea not null check (is_sealed(sealed_key)),
  made_at timestamptz not null,
  signs_from timestamptz not null,
  -- Null: until there is a newer one.
  ends_at timestamptz
);

-- What hubs know a session by. It opens nothing, unlike the token.
alter table session add column if not exists sid uuid;
alter table session alter column sid set default gen_random_uuid();
-- new transaction, again while rows change
-- In parts: whose session waits to be changed waits for one of them only.
update session set sid = gen_random_uuid() where token_hash in (select token_hash from session where sid is null limit 2000);
-- new transaction
-- Nobody needs to read that there is none to drop.
set local client_min_messages = warning;
-- A constraint that is valid already spares `set not null` its look at every row, which nobody could pass.
alter table session
  drop constraint if exists session_sid_there,
  add constraint session_sid_there check (sid is not null) not valid;
-- new transaction
alter table session validate constraint session_sid_there;
-- new transaction
alter table session alter column sid set not null;
alter table session drop constraint session_sid_there;
