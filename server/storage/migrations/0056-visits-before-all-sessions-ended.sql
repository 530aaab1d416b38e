-- When all sessions of a user were last ended at once, and all that came by a connection: a visit to a provider that began
-- before opens none (docs/decisions/0031). Its answer may wait in a browser that has no session yet, where nothing else ends it.
alter table portal_user add column sessions_ended_at timestamptz;
alter table sso_subject add column sessions_ended_at timestamptz;
