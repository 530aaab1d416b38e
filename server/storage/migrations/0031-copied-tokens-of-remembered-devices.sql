-- The token that a remembered device had before its last use. Whoever presents it later has a copy, or never got the response:
-- the device is then forgotten, and that is recorded (docs/decisions/0014).
alter table remembered_device add column former_token_hash bytea check (octet_length(former_token_hash) = 32);
