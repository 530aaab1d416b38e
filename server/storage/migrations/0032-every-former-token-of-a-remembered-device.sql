-- Every token that a remembered device had before, for as long as the device is stored: whoever presents one has a copy, or
-- never got a response. Only the last one was kept, so that a copy used twice was not noticed (docs/decisions/0014).
create table former_remembered_token (
  token_hash bytea primary key check (octet_length(token_hash) = 32),
  device_id uuid not null references remembered_device on delete cascade,
  replaced_at timestamptz not null
);
create index former_remembered_token_by_device on former_remembered_token (device_id);
insert into former_remembered_token (token_hash, device_id, replaced_at)
  select distinct on (former_token_hash) former_token_hash, id, last_used_at from remembered_device
  where former_token_hash is not null order by former_token_hash, last_used_at desc;
alter table remembered_device drop column former_token_hash;
