-- What a provider has said ends with connection unlink, with another issuer or certificate, and when the connection is disabled
-- (docs/decisions/0031). An answer that is being read or decided at that moment is not stored yet, so it keeps the version of the
-- connection that it was read with, and counts only as long as the connection has that version.
alter table sso_connection add column answers_version integer not null default 0;
alter table sso_request add column answers_version integer not null default 0;
