-- How a forgotten password is replaced: requests, links, the passwords of before, and the mails that tell of it.

-- What visitors asked for. The answer is given before anybody looks whose name it is (password/answer-reset-request.ts).
create table reset_request (
  id bigint generated always as identity primary key,
  fold text not null,
  -- Of the page on which it was asked; the user's own comes first.
  language text not null,
  address inet not null,
  request_id text not null,
  asked_at timestamptz not null
);

create table reset_link (
  -- SHA-256 of the token; the token itself is only in the mail.
  token_hash bytea primary key,
  -- No foreign key: a link outlives its user, so that its holder learns that the account is gone.
  user_id uuid not null,
  made_at timestamptz not null,
  -- Counted from the moment when the mail leaves; until then from the request.
  ends_at timestamptz not null,
  -- Withdrawn: another link was used, or the password or e-mail was changed otherwise.
  state text not null default 'open' check (state in ('open', 'used', 'withdrawn'))
);
create index reset_link_by_user on reset_link (user_id);

-- Hashes that were replaced, so that a password is not chosen again too soon.
create table former_password (
  id bigint generated always as identity primary key,
  user_id uuid not null references portal_user on delete cascade,
  password_hash text not null,
  replaced_at timestamptz not null
);
create index former_password_by_user on former_password (user_id, id desc);

-- Mails that wait to be sent. A row is deleted when its mail has left.
create table mail (
  id uuid primary key,
  kind text not null check (kind in ('resetLink', 'singleSignOnHint', 'passwordChanged', 'newDevice')),
  user_id uuid not null,
  recipient text not null,
  language text not null,
  details jsonb not null,
  -- The token of a reset link, sealed and bound to this row (secrets/sealed.ts), with the hash under which it is kept.
  sealed_token bytea,
  token_hash bytea,
  queued_at timestamptz not null,
  -- While it is being sent, the time after which it counts as forgotten by whoever took it.
  send_after timestamptz not null,
  tries integer not null default 0,
  -- What the mail server said last, for the operator.
  problem text
);
create index mail_send_after on mail (send_after);
create index mail_by_user on mail (user_id);

alter table customer add column new_device_mail boolean not null default false;

create or replace function user_removed() returns trigger language plpgsql as $$
begin
  delete from session where user_id in (select id from removed);
  delete from device where user_id in (select id from removed);
  delete from mail where user_id in (select id from removed);
  return null;
end $$;
