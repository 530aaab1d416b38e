-- The hubs that are told when a session ends, as the configuration of the instance that started last has them.
create table hub_receiver (
  audience text primary key,
  -- Attempts in a row without an answer, and until when none is made.
  failures integer not null default 0,
  paused_until timestamptz not null default '-infinity'
);

-- What they are yet to be told. The row is written in the transaction that ends the session, whatever ends it.
create table hub_logout (
  id bigint generated always as identity primary key,
  audience text not null,
  sid uuid not null,
  user_id uuid not null,
  send_after timestamptz not null default '-infinity',
  tries integer not null default 0,
  -- Since when it is known that the hub did not take it.
  waiting_since timestamptz,
  problem text
);
create index hub_logout_by_audience on hub_logout (audience, id);
create index hub_logout_by_wait on hub_logout (waiting_since) where waiting_since is not null;

create or replace function session_ended() returns trigger language plpgsql as $$
begin
  delete from pending_totp where session_hash in (select token_hash from ended);
  delete from email_code where session_hash in (select token_hash from ended);
  delete from shown_recovery_codes where session_hash in (select token_hash from ended);
  insert into hub_logout (audience, sid, user_id)
  select r.audience, e.sid, e.user_id from ended e cross join hub_receiver r where e.stage = 'full';
  return null;
end $$;
