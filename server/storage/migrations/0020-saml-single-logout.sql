-- SAML single logout (SAML profiles §4.4), begun here or by the provider.

comment on column session.sealed_id_token is
  'What the provider wants to see at sign-out, sealed: the ID token, or for SAML the NameID with its SessionIndex.';

-- Requests that a provider began and that counted: each is taken once.
create table received_saml_logout (
  connection_id uuid not null references sso_connection on delete cascade,
  request_hash bytea not null check (octet_length(request_hash) = 32),
  -- When it is too old to be shown again.
  ends_at timestamptz not null,
  primary key (connection_id, request_hash)
);
create index received_saml_logout_by_end on received_saml_logout (ends_at);

-- Requests of our own whose answers are expected.
create table sent_saml_logout (
  -- SHA-256 of the request's ID.
  request_hash bytea primary key check (octet_length(request_hash) = 32),
  connection_id uuid not null references sso_connection on delete cascade,
  -- SHA-256 of the token of the browser that began.
  browser_hash bytea not null check (octet_length(browser_hash) = 32),
  ends_at timestamptz not null,
  -- Whether the provider says that it ended everything; null until it has answered.
  is_whole boolean
);
create index sent_saml_logout_by_connection on sent_saml_logout (connection_id);
create index sent_saml_logout_by_browser on sent_saml_logout (browser_hash);
create index sent_saml_logout_by_end on sent_saml_logout (ends_at);
