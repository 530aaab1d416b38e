-- Whether this is the hash of the session's own token, and not of one that it had before: a copy of that one learns no name from
-- its sign-out (docs/decisions/0028). False for what an earlier version stores, for half a minute.
alter table signed_out_session add column by_own_token boolean not null default false;
