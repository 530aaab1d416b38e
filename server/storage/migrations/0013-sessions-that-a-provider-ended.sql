-- Sessions that a provider's logout ended: for the browser that comes back with one it is a sign-out
-- (docs/decisions/0027). Kept until the session would have ended.
create table ended_session (
  token_hash bytea primary key check (octet_length(token_hash) = 32),
  ends_at timestamptz not null
);
create index ended_session_by_end on ended_session (ends_at);
