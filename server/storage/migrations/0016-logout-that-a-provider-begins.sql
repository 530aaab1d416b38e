-- A session remembers by which subject, and in which session of the provider, it came (SHA-256 of each), so that the
-- provider can end it (OpenID Connect Back-Channel Logout 1.0).
alter table session
  add column provider_subject_hash bytea check (octet_length(provider_subject_hash) = 32),
  add column provider_session_hash bytea check (octet_length(provider_session_hash) = 32);
create index session_by_connection on session (connection_id) where connection_id is not null;

-- Logout tokens that were used: each is taken once.
create table oidc_logout_token (
  connection_id uuid not null references sso_connection on delete cascade,
  jti_hash bytea not null check (octet_length(jti_hash) = 32),
  -- When it is too old to be shown again.
  ends_at timestamptz not null,
  primary key (connection_id, jti_hash)
);
create index oidc_logout_token_by_end on oidc_logout_token (ends_at);
