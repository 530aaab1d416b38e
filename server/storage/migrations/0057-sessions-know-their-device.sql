-- The browser that a session was opened in, by its `device` cookie (docs/decisions/0051): another one that its user has signed in in,
-- whose cookie moves on to the next person there, is not the session's own. Null: opened by an earlier version.
alter table session add column device_hash bytea check (octet_length(device_hash) = 32);
