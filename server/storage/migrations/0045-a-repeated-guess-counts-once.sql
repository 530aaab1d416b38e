-- Counts a wrong guess under an origin and says whether it was counted. The same guess twice in a row counts once; a third
-- time it counts again, so that repeating one guess does not have passwords checked without end. The row is locked before
-- it is read: of two at once the second one is the repetition.
create function throttle_guess(attempt_key text, guess bytea, at timestamptz, free_failures double precision, leak_seconds double precision, first_wait double precision, longest_wait double precision)
returns boolean language plpgsql as $$
declare
  is_repeated boolean;
begin
  insert into throttle as t (key, failures, changed_at, admitted)
  values (attempt_key, 0, at, true)
  on conflict (key) do update set admitted = t.admitted
  returning coalesce(last_guess = guess, false) into is_repeated;
  if is_repeated then
    update throttle set last_guess = null where key = attempt_key;
  else
    perform throttle_attempt(attempt_key, guess, at, free_failures, leak_seconds, first_wait, longest_wait, true);
  end if;
  return not is_repeated;
end $$;
