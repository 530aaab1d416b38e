-- What a provider's logout named: an answer that it issued before then, and that comes after it, signs in nobody. Without a
-- session of the provider all of the subject is meant, without a subject all of that session.
create table provider_logout (
  connection_id uuid not null references sso_connection on delete cascade,
  subject_hash bytea check (octet_length(subject_hash) = 32),
  session_hash bytea check (octet_length(session_hash) = 32),
  -- By the clock of the provider, as the answers are.
  issued_at timestamptz not null,
  -- When no answer from before would be accepted any more.
  ends_at timestamptz not null,
  check (subject_hash is not null or session_hash is not null)
);
create index provider_logout_by_connection on provider_logout (connection_id, issued_at);
create index provider_logout_by_end on provider_logout (ends_at);
