-- A session can be ended by the token that it replaced in its browser (0030). Whoever holds only that one may be somebody else,
-- who is not shown whose session it was.
alter table signed_out_session add column by_replaced boolean not null default false;
