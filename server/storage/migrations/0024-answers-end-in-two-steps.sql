-- The answers of both protocols wait for the browser's next request (docs/decisions/0030). An OpenID answer has its token
-- from the moment when its code is redeemed, before there is anything to keep.
alter table sso_request
  drop constraint sso_request_answer,
  add constraint sso_request_answer check (
    (answer_hash is null) = (answer_ends_at is null) and (sealed_answer is null or answer_hash is not null)
  ),
-- What came of it, sealed: for seconds the same browser gets it again. Null until that time: it is being decided.
  add column sealed_outcome bytea check (is_sealed(sealed_outcome)),
  add column outcome_ends_at timestamptz,
  add constraint sso_request_outcome check (sealed_outcome is null or outcome_ends_at is not null);
