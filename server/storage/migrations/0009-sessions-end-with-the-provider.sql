-- The latest end of a session that came from a provider which says how long it counts; null where it does not.
alter table session add column provider_ends_at timestamptz;
