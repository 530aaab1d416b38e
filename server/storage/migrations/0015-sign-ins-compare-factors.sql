-- Goes up whenever what a sign-in asks of the user changes: one that read it before its password was looked at compares it
-- while it holds the user, and begins again where it differs (docs/decisions/0028).
alter table portal_user add column factor_version integer not null default 0;

-- The token before of a session that goes on under another: a sign-out that still has that one ends it as well.
alter table session add column former_token_hash bytea check (octet_length(former_token_hash) = 32);
create index session_by_former_token on session (former_token_hash) where former_token_hash is not null;
