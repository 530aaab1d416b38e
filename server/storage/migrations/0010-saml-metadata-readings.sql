-- What was found when the metadata of a SAML provider were read again: told, and never taken over by itself.
create table saml_metadata_reading (
  connection_id uuid primary key references sso_connection on delete cascade,
  read_at timestamptz not null,
  -- What is there and not here, in words; empty when nothing is, or when nobody answered yet.
  differences text[] not null default '{}'
);
