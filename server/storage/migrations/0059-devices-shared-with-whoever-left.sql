-- Whether somebody whose row has gone since, with a new password or the account, signed in in this browser after its user and may
-- have kept its token (docs/decisions/0008). Those whose rows are there are found by them.
alter table device add column is_shared boolean not null default false;

create function device_forgotten() returns trigger language plpgsql as $$
begin
  update device set is_shared = true
  where token_hash = old.token_hash and last_used_at <= old.last_used_at and not is_shared;
  return null;
end $$;

create trigger device_forgotten after delete on device for each row execute function device_forgotten();
