-- A SAML answer is finished by the browser that brought it alone: SHA-256 of the token that it was given for it, and
-- until when it is good (docs/decisions/0017). Whoever brought the answers that wait so far was given none.
delete from sso_request where sealed_answer is not null;
alter table sso_request
  add column answer_hash bytea check (octet_length(answer_hash) = 32),
  add column answer_ends_at timestamptz,
  add constraint sso_request_answer check (
    (sealed_answer is null) = (answer_hash is null) and (sealed_answer is null) = (answer_ends_at is null)
  );
