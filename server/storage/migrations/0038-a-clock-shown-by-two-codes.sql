-- The clock of a phone is reported once two codes have shown the same offset (docs/decisions/0015): the time step of the
-- last code that was not of this time, and its offset in seconds.
alter table session
  add column clock_step bigint,
  add column clock_offset integer;
