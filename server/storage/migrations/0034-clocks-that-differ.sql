-- Instances whose clocks differ by milliseconds: a failure that seems to come before the last one leaks nothing. Before, it
-- leaked less than nothing, and the wait began one failure early.
create or replace function throttle_attempt(attempt_key text, guess bytea, at timestamp with time zone, free_failures double precision, leak_seconds double precision, first_wait double precision, longest_wait double precision, even_waiting boolean DEFAULT false)
 returns boolean
  language plpgsql as $function$
declare
  was_admitted boolean;
begin
  insert into throttle as t (key, failures, changed_at, blocked_until, last_guess, admitted)
  values (attempt_key, 1, at, case when free_failures <= 1 then at + make_interval(secs => first_wait) end, guess, true)
  on conflict (key) do update set
    (failures, changed_at, blocked_until, last_guess, admitted) = (
      select
        case when same or not free then t.failures else leaked + 1 end,
        case when same or not free then t.changed_at else at end,
        case
          when same or not free then t.blocked_until
          when ceil(leaked) + 1 >= free_failures then
            greatest(t.blocked_until, at + make_interval(
              secs => least(longest_wait, first_wait * power(2, least(30, ceil(leaked) + 1 - free_failures)))))
        end,
        case when free then guess else t.last_guess end,
        same or free
      from (
        select
          coalesce(t.last_guess = guess, false) as same,
          even_waiting or coalesce(t.blocked_until <= at, true) as free,
          greatest(0, t.failures - greatest(0, extract(epoch from at - t.changed_at)) / leak_seconds) as leaked
      ) as state
    )
  returning t.admitted into was_admitted;
  return was_admitted;
end $function$;
