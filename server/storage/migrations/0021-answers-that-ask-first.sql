-- A provider's answer that would sign in somebody else than the browser expects waits for a press (docs/decisions/0029):
-- what it said, sealed, SHA-256 of the token of the browser that is asked, and until when.
alter table sso_request
  add column sealed_question bytea check (is_sealed(sealed_question)),
  add column question_hash bytea check (octet_length(question_hash) = 32),
  add column question_ends_at timestamptz,
  add constraint sso_request_question check (
    (sealed_question is null) = (question_hash is null) and (sealed_question is null) = (question_ends_at is null)
  );
