-- A session counts only while its connection is enabled (docs/decisions/0032), so a cached check is repeated after that changes.
create trigger connection_changed after delete or update of active on sso_connection
  for each statement execute function access_changed();
