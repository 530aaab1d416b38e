-- Every column of bytes says what it holds, so that the database itself refuses anything else. Until now a statement that
-- postgres.js sent again could store the text of bytes in their place, `\x0102ff` for 01 02 ff: docs/decisions/0020.
-- First the checks for what comes, table by table and for a moment each; then what is there, with the tables open.

create or replace function is_sealed(bytes bytea) returns boolean language sql immutable parallel safe
-- A nonce of 12 bytes and a tag of 16 before the text (secrets/sealed.ts), and not the text of such bytes.
return octet_length(bytes) >= 28 and encode(bytes, 'escape') !~ '^\\\\x[0-9a-f]*$';

-- new transaction
do $$ begin
  alter table session
    add constraint session_token_hash_bytes check (octet_length(token_hash) = 32) not valid,
    add constraint session_sealed_id_token_bytes check (is_sealed(sealed_id_token)) not valid;
exception when duplicate_object then null;
end $$;

-- new transaction
do $$ begin
  alter table device
    add constraint device_token_hash_bytes check (octet_length(token_hash) = 32) not valid;
exception when duplicate_object then null;
end $$;

-- new transaction
do $$ begin
  alter table throttle
    add constraint throttle_last_guess_bytes check (octet_length(last_guess) = 8) not valid;
exception when duplicate_object then null;
end $$;

-- new transaction
do $$ begin
  alter table reset_link
    add constraint reset_link_token_hash_bytes check (octet_length(token_hash) = 32) not valid;
exception when duplicate_object then null;
end $$;

-- new transaction
do $$ begin
  alter table mail
    add constraint mail_token_hash_bytes check (octet_length(token_hash) = 32) not valid,
    add constraint mail_sealed_token_bytes check (is_sealed(sealed_token)) not valid;
exception when duplicate_object then null;
end $$;

-- new transaction
do $$ begin
  alter table totp
    add constraint totp_sealed_secret_bytes check (is_sealed(sealed_secret)) not valid;
exception when duplicate_object then null;
end $$;

-- new transaction
do $$ begin
  alter table pending_totp
    add constraint pending_totp_session_hash_bytes check (octet_length(session_hash) = 32) not valid,
    add constraint pending_totp_sealed_secret_bytes check (is_sealed(sealed_secret)) not valid;
exception when duplicate_object then null;
end $$;

-- new transaction
do $$ begin
  alter table email_code
    add constraint email_code_session_hash_bytes check (octet_length(session_hash) = 32) not valid,
    add constraint email_code_code_hash_bytes check (octet_length(code_hash) = 32) not valid;
exception when duplicate_object then null;
end $$;

-- new transaction
do $$ begin
  alter table recovery_code
    add constraint recovery_code_code_hash_bytes check (octet_length(code_hash) = 32) not valid;
exception when duplicate_object then null;
end $$;

-- new transaction
do $$ begin
  alter table shown_recovery_codes
    add constraint shown_recovery_codes_session_hash_bytes check (octet_length(session_hash) = 32) not valid,
    add constraint shown_recovery_codes_sealed_codes_bytes check (is_sealed(sealed_codes)) not valid;
exception when duplicate_object then null;
end $$;

-- new transaction
do $$ begin
  alter table remembered_device
    add constraint remembered_device_token_hash_bytes check (octet_length(token_hash) = 32) not valid;
exception when duplicate_object then null;
end $$;

-- new transaction
do $$ begin
  alter table sso_connection
    add constraint sso_connection_sealed_secret_bytes check (is_sealed(sealed_secret)) not valid;
exception when duplicate_object then null;
end $$;

-- new transaction
do $$ begin
  alter table sso_request
    add constraint sso_request_state_hash_bytes check (octet_length(state_hash) = 32) not valid,
    add constraint sso_request_browser_hash_bytes check (octet_length(browser_hash) = 32) not valid,
    add constraint sso_request_sealed_details_bytes check (is_sealed(sealed_details)) not valid,
    add constraint sso_request_sealed_answer_bytes check (is_sealed(sealed_answer)) not valid;
exception when duplicate_object then null;
end $$;

-- new transaction
do $$ begin
  alter table saml_assertion
    add constraint saml_assertion_assertion_hash_bytes check (octet_length(assertion_hash) = 32) not valid;
exception when duplicate_object then null;
end $$;

-- new transaction
do $$ begin
  alter table portal_key
    add constraint portal_key_sealed_key_bytes check (is_sealed(sealed_key)) not valid;
exception when duplicate_object then null;
end $$;

-- new transaction
-- What somebody would miss is turned back into what it was: an app, recovery codes, a client secret, the portal's keys.
update totp set sealed_secret = decode(substr(encode(sealed_secret, 'escape'), 4), 'hex')
where encode(sealed_secret, 'escape') ~ '^\\\\x([0-9a-f][0-9a-f])+$';
update recovery_code r set code_hash = decode(substr(encode(code_hash, 'escape'), 4), 'hex')
where encode(code_hash, 'escape') ~ '^\\\\x([0-9a-f][0-9a-f]){32}$' and not exists (
  select from recovery_code as same
  where same.user_id = r.user_id and same.code_hash = decode(substr(encode(r.code_hash, 'escape'), 4), 'hex')
);
update sso_connection set sealed_secret = decode(substr(encode(sealed_secret, 'escape'), 4), 'hex')
where encode(sealed_secret, 'escape') ~ '^\\\\x([0-9a-f][0-9a-f])+$';
update portal_key set sealed_key = decode(substr(encode(sealed_key, 'escape'), 4), 'hex')
where encode(sealed_key, 'escape') ~ '^\\\\x([0-9a-f][0-9a-f])+$';

-- The rest nobody can use any more, and nobody misses: it is signed in once more, or asked for again.

-- new transaction
delete from session where octet_length(token_hash) <> 32 or not is_sealed(sealed_id_token);
alter table session
  validate constraint session_token_hash_bytes,
  validate constraint session_sealed_id_token_bytes;

-- new transaction
delete from device where octet_length(token_hash) <> 32;
alter table device
  validate constraint device_token_hash_bytes;

-- new transaction
update throttle set last_guess = null where octet_length(last_guess) <> 8;
alter table throttle
  validate constraint throttle_last_guess_bytes;

-- new transaction
delete from reset_link where octet_length(token_hash) <> 32;
alter table reset_link
  validate constraint reset_link_token_hash_bytes;

-- new transaction
delete from mail where octet_length(token_hash) <> 32 or not is_sealed(sealed_token);
alter table mail
  validate constraint mail_token_hash_bytes,
  validate constraint mail_sealed_token_bytes;

-- new transaction
delete from pending_totp where octet_length(session_hash) <> 32 or not is_sealed(sealed_secret);
alter table pending_totp
  validate constraint pending_totp_session_hash_bytes,
  validate constraint pending_totp_sealed_secret_bytes;

-- new transaction
delete from email_code where octet_length(session_hash) <> 32 or octet_length(code_hash) <> 32;
alter table email_code
  validate constraint email_code_session_hash_bytes,
  validate constraint email_code_code_hash_bytes;

-- new transaction
delete from recovery_code where octet_length(code_hash) <> 32;
alter table recovery_code
  validate constraint recovery_code_code_hash_bytes;

-- new transaction
delete from shown_recovery_codes where octet_length(session_hash) <> 32 or not is_sealed(sealed_codes);
alter table shown_recovery_codes
  validate constraint shown_recovery_codes_session_hash_bytes,
  validate constraint shown_recovery_codes_sealed_codes_bytes;

-- new transaction
delete from remembered_device where octet_length(token_hash) <> 32;
alter table remembered_device
  validate constraint remembered_device_token_hash_bytes;

-- new transaction
delete from sso_request
where octet_length(state_hash) <> 32 or octet_length(browser_hash) <> 32
  or not is_sealed(sealed_details) or not is_sealed(sealed_answer);
alter table sso_request
  validate constraint sso_request_state_hash_bytes,
  validate constraint sso_request_browser_hash_bytes,
  validate constraint sso_request_sealed_details_bytes,
  validate constraint sso_request_sealed_answer_bytes;

-- new transaction
delete from saml_assertion where octet_length(assertion_hash) <> 32;
alter table saml_assertion
  validate constraint saml_assertion_assertion_hash_bytes;

-- An app, a client secret or a key that cannot be opened stays and is named: without its row a second factor would be gone.

-- new transaction
do $$ begin
  alter table totp validate constraint totp_sealed_secret_bytes;
exception when check_violation then
  raise warning '% rows of totp hold a secret that cannot be opened: vestibule doctor names them',
    (select count(*) from totp where not is_sealed(sealed_secret));
end $$;

-- new transaction
-- A client secret that nothing opens is as good as none, and a row that holds one could never be changed again.
do $$ declare lost text; begin
  select string_agg(key, ', ' order by key) into lost from sso_connection where not is_sealed(sealed_secret);
  if lost is not null then
    raise warning 'the client secret of % cannot be opened and is gone: vestibule connection set KEY --client-secret-stdin', lost;
  end if;
end $$;
update sso_connection set sealed_secret = null where not is_sealed(sealed_secret);
alter table sso_connection validate constraint sso_connection_sealed_secret_bytes;

-- new transaction
do $$ begin
  alter table portal_key validate constraint portal_key_sealed_key_bytes;
exception when check_violation then
  raise warning '% rows of portal_key hold a secret that cannot be opened: vestibule doctor names them',
    (select count(*) from portal_key where not is_sealed(sealed_key));
end $$;
