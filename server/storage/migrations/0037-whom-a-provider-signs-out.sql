-- A half session that replaced a full one ends with that one's provider, too: whom and which of its sessions the provider
-- will name (docs/decisions/0027).
alter table session
  add column replaced_subject_hash bytea check (octet_length(replaced_subject_hash) = 32),
  add column replaced_session_hash bytea check (octet_length(replaced_session_hash) = 32);
create index session_by_replaced_connection on session (replaced_connection_id) where replaced_connection_id is not null;
