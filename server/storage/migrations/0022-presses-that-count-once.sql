-- A button pressed twice counts once (docs/decisions/0028): the last code that a form sent in a session, as a keyed digest,
-- and when; and at which attempt the clock was reported, so that the second press of that one is told the same.
alter table session
  add column last_code_hash bytea check (octet_length(last_code_hash) = 32),
  add column last_code_at timestamptz,
  add column clock_told_at_try integer;
