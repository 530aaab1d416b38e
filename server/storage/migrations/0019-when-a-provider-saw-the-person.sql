-- When the person last proved to the provider who they are, for sessions that came by one; null where it does not say.
alter table session add column authenticated_at timestamptz;
