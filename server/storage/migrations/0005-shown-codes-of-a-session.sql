-- Recovery codes in the clear belong to the session that registered, and go with it; whose they were so far is unknown.
delete from shown_recovery_codes;
alter table shown_recovery_codes add column session_hash bytea not null;

create or replace function session_ended() returns trigger language plpgsql as $$
begin
  delete from pending_totp where session_hash in (select token_hash from ended);
  delete from email_code where session_hash in (select token_hash from ended);
  delete from shown_recovery_codes where session_hash in (select token_hash from ended);
  return null;
end $$;
