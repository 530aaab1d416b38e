-- Until when the former token of a session still ends it; null for as long as the session.
alter table session add column former_ends_at timestamptz;
