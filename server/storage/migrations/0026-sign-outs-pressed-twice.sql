-- Sessions that their browsers ended a moment ago, by each token that a browser may still have: a sign-out that is pressed
-- twice leads where the first one would have (docs/decisions/0032).
create table signed_out_session (
  token_hash bytea primary key check (octet_length(token_hash) = 32),
  user_id uuid not null,
  stage text not null check (stage in ('half', 'full')),
  connection_id uuid,
  sealed_id_token bytea check (is_sealed(sealed_id_token)),
  ends_at timestamptz not null
);
create index signed_out_session_by_end on signed_out_session (ends_at);
