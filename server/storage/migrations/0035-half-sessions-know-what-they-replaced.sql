-- A half session that replaced a live full one: its sign-out, and its end by the provider, are those of the full session
-- (docs/decisions/0027). Also what the full session's provider expects at sign-out, if it was the same user's.
alter table session
  add column replaced_full boolean not null default false,
  add column replaced_connection_id uuid,
  add column sealed_replaced_id_token bytea check (is_sealed(sealed_replaced_id_token));
