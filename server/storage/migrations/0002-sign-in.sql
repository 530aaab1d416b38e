-- Who is in, from which browser, how often it was tried, and what happened.

create table session (
  -- SHA-256 of the token; the token itself is only in the browser.
  token_hash bytea primary key,
  -- No foreign key here and in device: a sign-in locks the user while it inserts (storage/sign-in.ts), a check of the key
  -- would look it up once more, and user_removed below deletes what is left.
  user_id uuid not null,
  stage text not null check (stage in ('half', 'full')),
  -- The customers that admitted the address at sign-in; the session is limited to them (decisions §7).
  customer_ids uuid[] not null,
  address inet not null,
  created_at timestamptz not null,
  last_seen_at timestamptz not null,
  ends_at timestamptz not null,
  -- What the last whole check said, for as long as nothing that it looked at has changed: see access_version.
  checked_version bigint,
  checked_address inet,
  answer text
);
create index session_by_user on session (user_id);

-- One number that every change to what a session may see makes greater. A session that was checked at today's number,
-- from the same address, need not be checked again: docs/decisions/0006.
create table access_version (version bigint not null);
insert into access_version values (1);

create function access_changed() returns trigger language plpgsql as $$
begin
  update access_version set version = version + 1;
  return null;
end $$;
create trigger customer_changed after update or delete on customer for each statement execute function access_changed();
create trigger membership_removed after update or delete on membership for each statement execute function access_changed();
create trigger user_changed after update of username, email, language, active on portal_user
  for each statement execute function access_changed();

-- A browser that signed in before as this user: its right password is never kept out by somebody else's guesses.
create table device (
  token_hash bytea not null,
  user_id uuid not null,
  last_used_at timestamptz not null,
  primary key (token_hash, user_id)
);

create function user_removed() returns trigger language plpgsql as $$
begin
  delete from session where user_id in (select id from removed);
  delete from device where user_id in (select id from removed);
  return null;
end $$;
create trigger user_removed after delete on portal_user referencing old table as removed
  for each statement execute function user_removed();

-- Counts of failed guesses per account, address, network, device and in all. They leak away with time.
create table throttle (
  key text primary key,
  failures double precision not null,
  changed_at timestamptz not null,
  blocked_until timestamptz,
  -- A keyed digest of the last guess: the same wrong password twice in a row counts once (decisions §13).
  last_guess bytea,
  -- Whether the last attempt was let through; what throttle_attempt answers.
  admitted boolean not null
) with (fillfactor = 70);

-- Counts one attempt under a key and says whether it may go on. One failure leaks away every leak_seconds; from
-- free_failures on each further one makes the next wait twice as long, from first_wait to longest_wait seconds.
-- An attempt during a wait is refused and not counted; the same guess as the one before is let through, uncounted.
-- With even_waiting a failure counts during a wait too: it was let through before the wait began, beside others.
create function throttle_attempt(
  attempt_key text, guess bytea, at timestamptz,
  free_failures double precision, leak_seconds double precision,
  first_wait double precision, longest_wait double precision, even_waiting boolean default false
) returns boolean language plpgsql as $$
declare
  was_admitted boolean;
begin
  insert into throttle as t (key, failures, changed_at, blocked_until, last_guess, admitted)
  values (attempt_key, 1, at, case when free_failures <= 1 then at + make_interval(secs => first_wait) end, guess, true)
  on conflict (key) do update set
    (failures, changed_at, blocked_until, last_guess, admitted) = (
      select
        case when same or not free then t.failures else leaked + 1 end,
        case when same or not free then t.changed_at else at end,
        case
          when same or not free then t.blocked_until
          when ceil(leaked) + 1 >= free_failures then
            greatest(t.blocked_until, at + make_interval(
              secs => least(longest_wait, first_wait * power(2, least(30, ceil(leaked) + 1 - free_failures)))))
        end,
        case when free then guess else t.last_guess end,
        same or free
      from (
        select
          coalesce(t.last_guess = guess, false) as same,
          even_waiting or coalesce(t.blocked_until <= at, true) as free,
          greatest(0, t.failures - extract(epoch from at - t.changed_at) / leak_seconds) as leaked
      ) as state
    )
  returning t.admitted into was_admitted;
  return was_admitted;
end $$;

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

