-- The whole schema, made from the migrations for people to read. Nothing runs it.
-- After a migration: npx vitest run server/storage/schema.test.ts -u

create table access_version (
  version bigint not null
);

create table audit_event (
  id bigint generated always as identity not null,
  at timestamp with time zone not null,
  event text not null,
  reason text,
  reference text,
  user_id uuid,
  username text,
  customer_key text,
  connection text,
  address inet,
  request_id text,
  steps jsonb not null default '[]'::jsonb,
  primary key (id)
);
CREATE INDEX audit_event_at ON audit_event USING brin (at);
CREATE INDEX audit_event_of_user ON audit_event USING btree (user_id, id DESC) WHERE (user_id IS NOT NULL);
CREATE INDEX audit_event_reference ON audit_event USING btree (reference) WHERE (reference IS NOT NULL);

create table customer (
  id uuid not null default gen_random_uuid(),
  key text not null,
  name text not null,
  allowed_networks cidr[] not null default '{}'::cidr[],
  two_factor text not null default 'off'::text,
  active boolean not null default true,
  created_at timestamp with time zone not null,
  new_device_mail boolean not null default false,
  remember_devices boolean not null default true,
  passkeys text not null default 'on'::text,
  check ((key ~ '^[a-z0-9][a-z0-9-]{0,62}$'::text)),
  check ((passkeys = ANY (ARRAY['off'::text, 'on'::text, 'only'::text]))),
  check ((two_factor = ANY (ARRAY['off'::text, 'app'::text, 'email'::text]))),
  primary key (id),
  unique (key)
);

create table customer_brand (
  customer_id uuid not null,
  settings jsonb not null,
  logo text,
  logo_dark text,
  changed_at timestamp with time zone not null,
  version bigint not null default nextval('customer_brand_version_seq'::regclass),
  check ((char_length(logo) <= 100000)),
  check ((char_length(logo_dark) <= 100000)),
  foreign key (customer_id) REFERENCES customer(id) ON DELETE CASCADE,
  primary key (customer_id),
  unique (version)
);

create table customer_host (
  host text not null,
  customer_id uuid not null,
  check (((host = lower(host)) AND (char_length(host) <= 255))),
  foreign key (customer_id) REFERENCES customer(id) ON DELETE CASCADE,
  primary key (host)
);
CREATE INDEX customer_host_customer ON customer_host USING btree (customer_id);

create table device (
  token_hash bytea not null,
  user_id uuid not null,
  last_used_at timestamp with time zone not null,
  by_password boolean not null default false,
  passkey_made_at timestamp with time zone,
  is_shared boolean not null default false,
  check ((octet_length(token_hash) = 32)),
  primary key (token_hash, user_id)
);

create table email_code (
  session_hash bytea not null,
  user_id uuid not null,
  code_hash bytea not null,
  made_at timestamp with time zone not null,
  ends_at timestamp with time zone not null,
  sent integer not null default 1,
  check ((octet_length(code_hash) = 32)),
  check ((octet_length(session_hash) = 32)),
  primary key (session_hash)
);

create table email_factor (
  user_id uuid not null,
  confirmed_at timestamp with time zone not null,
  foreign key (user_id) REFERENCES portal_user(id) ON DELETE CASCADE,
  primary key (user_id)
);

create table ended_session (
  token_hash bytea not null,
  ends_at timestamp with time zone not null,
  check ((octet_length(token_hash) = 32)),
  primary key (token_hash)
);
CREATE INDEX ended_session_by_end ON ended_session USING btree (ends_at);

create table former_password (
  id bigint generated always as identity not null,
  user_id uuid not null,
  password_hash text not null,
  replaced_at timestamp with time zone not null,
  foreign key (user_id) REFERENCES portal_user(id) ON DELETE CASCADE,
  primary key (id)
);
CREATE INDEX former_password_by_user ON former_password USING btree (user_id, id DESC);

create table former_remembered_token (
  token_hash bytea not null,
  device_id uuid not null,
  replaced_at timestamp with time zone not null,
  check ((octet_length(token_hash) = 32)),
  foreign key (device_id) REFERENCES remembered_device(id) ON DELETE CASCADE,
  primary key (token_hash)
);
CREATE INDEX former_remembered_token_by_device ON former_remembered_token USING btree (device_id);

create table hub_key (
  id uuid not null,
  algorithm text not null,
  jwk jsonb not null,
  sealed_key bytea not null,
  made_at timestamp with time zone not null,
  signs_from timestamp with time zone not null,
  ends_at timestamp with time zone,
  check ((algorithm = ANY (ARRAY['EdDSA'::text, 'ES256'::text]))),
  check (is_sealed(sealed_key)),
  primary key (id)
);

create table hub_logout (
  id bigint generated always as identity not null,
  audience text not null,
  sid uuid not null,
  user_id uuid not null,
  send_after timestamp with time zone not null default '-infinity'::timestamp with time zone,
  tries integer not null default 0,
  waiting_since timestamp with time zone,
  problem text,
  primary key (id)
);
CREATE INDEX hub_logout_by_audience ON hub_logout USING btree (audience, id);
CREATE INDEX hub_logout_by_turn ON hub_logout USING btree (audience, send_after, id);
CREATE INDEX hub_logout_by_wait ON hub_logout USING btree (waiting_since) WHERE (waiting_since IS NOT NULL);

create table hub_receiver (
  audience text not null,
  failures integer not null default 0,
  paused_until timestamp with time zone not null default '-infinity'::timestamp with time zone,
  primary key (audience)
);

create table login_name (
  fold text not null,
  user_id uuid not null,
  foreign key (user_id) REFERENCES portal_user(id) ON DELETE CASCADE,
  primary key (fold)
);
CREATE INDEX login_name_user ON login_name USING btree (user_id);

create table mail (
  id uuid not null,
  kind text not null,
  user_id uuid not null,
  recipient text not null,
  language text not null,
  details jsonb not null,
  sealed_token bytea,
  token_hash bytea,
  queued_at timestamp with time zone not null,
  send_after timestamp with time zone not null,
  tries integer not null default 0,
  problem text,
  check ((kind = ANY (ARRAY['resetLink'::text, 'singleSignOnHint'::text, 'passkeyHint'::text, 'passwordChanged'::text, 'newDevice'::text, 'signInCode'::text, 'secondFactorAdded'::text, 'secondFactorRemoved'::text, 'appReplaced'::text, 'appRemoved'::text, 'recoveryCodesMade'::text, 'devicesForgotten'::text, 'sessionsEnded'::text, 'passkeyAdded'::text, 'passkeyRemoved'::text, 'invitation'::text]))),
  check ((octet_length(token_hash) = 32)),
  check (is_sealed(sealed_token)),
  primary key (id)
);
CREATE INDEX mail_by_turn ON mail USING btree (((kind = ANY (ARRAY['signInCode'::text, 'resetLink'::text, 'singleSignOnHint'::text, 'passkeyHint'::text]))) DESC, send_after, id);
CREATE INDEX mail_by_user ON mail USING btree (user_id);

create table membership (
  user_id uuid not null,
  customer_id uuid not null,
  foreign key (customer_id) REFERENCES customer(id) ON DELETE CASCADE,
  foreign key (user_id) REFERENCES portal_user(id) ON DELETE CASCADE,
  primary key (user_id, customer_id)
);
CREATE INDEX membership_customer ON membership USING btree (customer_id);

create table migration (
  name text not null,
  checksum text not null,
  applied_at timestamp with time zone not null default now(),
  primary key (name)
);

create table oidc_logout_token (
  connection_id uuid not null,
  jti_hash bytea not null,
  ends_at timestamp with time zone not null,
  check ((octet_length(jti_hash) = 32)),
  foreign key (connection_id) REFERENCES sso_connection(id) ON DELETE CASCADE,
  primary key (connection_id, jti_hash)
);
CREATE INDEX oidc_logout_token_by_end ON oidc_logout_token USING btree (ends_at);

create table passkey (
  id uuid not null default gen_random_uuid(),
  user_id uuid not null,
  credential_id bytea not null,
  public_key bytea not null,
  rp_id text not null,
  counter bigint not null,
  backup_eligible boolean not null,
  backed_up boolean not null,
  aaguid uuid not null,
  transports text[] not null default '{}'::text[],
  name text not null,
  made_at timestamp with time zone not null,
  last_used_at timestamp with time zone,
  check (((char_length(name) >= 1) AND (char_length(name) <= 60))),
  check (((octet_length(credential_id) >= 16) AND (octet_length(credential_id) <= 1023))),
  check (((octet_length(public_key) >= 32) AND (octet_length(public_key) <= 2048))),
  foreign key (user_id) REFERENCES portal_user(id) ON DELETE CASCADE,
  primary key (id),
  unique (credential_id)
);
CREATE INDEX passkey_by_user ON passkey USING btree (user_id);

create table passkey_challenge (
  challenge_hash bytea not null,
  browser_hash bytea not null,
  purpose text not null,
  session_hash bytea,
  ends_at timestamp with time zone not null,
  link_hash bytea,
  check (((link_hash IS NOT NULL) = (purpose = 'invitation'::text))),
  check (((session_hash IS NOT NULL) = (purpose = ANY (ARRAY['enrol'::text, 'upgrade'::text, 'prove'::text])))),
  check ((octet_length(browser_hash) = 32)),
  check ((octet_length(challenge_hash) = 32)),
  check ((octet_length(link_hash) = 32)),
  check ((octet_length(session_hash) = 32)),
  check ((purpose = ANY (ARRAY['sign-in'::text, 'second-factor'::text, 'enrol'::text, 'invitation'::text, 'upgrade'::text, 'prove'::text]))),
  primary key (challenge_hash)
);
CREATE INDEX passkey_challenge_by_end ON passkey_challenge USING btree (ends_at);

create table password_decoy (
  place integer not null,
  decoy text not null,
  until_share double precision not null,
  primary key (place)
);

create table pending_totp (
  session_hash bytea not null,
  user_id uuid not null,
  sealed_secret bytea not null,
  made_at timestamp with time zone not null,
  check ((octet_length(session_hash) = 32)),
  check (is_sealed(sealed_secret)),
  primary key (session_hash)
);

create table portal_key (
  id uuid not null default gen_random_uuid(),
  stage text not null,
  certificate text not null,
  sealed_key bytea not null,
  made_at timestamp with time zone not null,
  ends_at timestamp with time zone not null,
  check ((stage = ANY (ARRAY['next'::text, 'current'::text, 'last'::text]))),
  check (is_sealed(sealed_key)),
  primary key (id)
);
CREATE UNIQUE INDEX portal_key_stage ON portal_key USING btree (stage);

create table portal_user (
  id uuid not null default gen_random_uuid(),
  username text not null,
  email text not null,
  password_hash text,
  active boolean not null default true,
  may_change_password boolean not null default true,
  language text,
  created_at timestamp with time zone not null,
  factor_version integer not null default 0,
  sessions_ended_at timestamp with time zone,
  check ((language = ANY (ARRAY['en'::text, 'de'::text, 'es'::text, 'pl'::text, 'nl'::text, 'it'::text]))),
  primary key (id)
);
CREATE INDEX portal_user_by_name ON portal_user USING btree (username, id);
CREATE INDEX portal_user_imported_hash ON portal_user USING btree (id) WHERE ((password_hash IS NOT NULL) AND (password_hash !~~ '$argon2id$v=19$m=19456,t=2,p=1$%'::text));

create table provider_logout (
  connection_id uuid not null,
  subject_hash bytea,
  session_hash bytea,
  issued_at timestamp with time zone not null,
  ends_at timestamp with time zone not null,
  check (((subject_hash IS NOT NULL) OR (session_hash IS NOT NULL))),
  check ((octet_length(session_hash) = 32)),
  check ((octet_length(subject_hash) = 32)),
  foreign key (connection_id) REFERENCES sso_connection(id) ON DELETE CASCADE
);
CREATE INDEX provider_logout_by_connection ON provider_logout USING btree (connection_id, issued_at);
CREATE INDEX provider_logout_by_end ON provider_logout USING btree (ends_at);

create table received_saml_logout (
  connection_id uuid not null,
  request_hash bytea not null,
  ends_at timestamp with time zone not null,
  check ((octet_length(request_hash) = 32)),
  foreign key (connection_id) REFERENCES sso_connection(id) ON DELETE CASCADE,
  primary key (connection_id, request_hash)
);
CREATE INDEX received_saml_logout_by_end ON received_saml_logout USING btree (ends_at);

create table recovery_code (
  user_id uuid not null,
  code_hash bytea not null,
  used_at timestamp with time zone,
  check ((octet_length(code_hash) = 32)),
  foreign key (user_id) REFERENCES portal_user(id) ON DELETE CASCADE,
  primary key (user_id, code_hash)
);

create table remembered_device (
  id uuid not null default gen_random_uuid(),
  token_hash bytea not null,
  user_id uuid not null,
  browser text,
  address inet not null,
  made_at timestamp with time zone not null,
  last_used_at timestamp with time zone not null,
  ends_at timestamp with time zone not null,
  factor text not null default 'email'::text,
  check ((factor = ANY (ARRAY['app'::text, 'email'::text]))),
  check ((octet_length(token_hash) = 32)),
  foreign key (user_id) REFERENCES portal_user(id) ON DELETE CASCADE,
  primary key (id),
  unique (token_hash)
);
CREATE INDEX remembered_device_by_user ON remembered_device USING btree (user_id);

create table reset_link (
  token_hash bytea not null,
  user_id uuid not null,
  made_at timestamp with time zone not null,
  ends_at timestamp with time zone not null,
  state text not null default 'open'::text,
  purpose text not null default 'reset'::text,
  check ((octet_length(token_hash) = 32)),
  check ((purpose = ANY (ARRAY['reset'::text, 'invitation'::text]))),
  check ((state = ANY (ARRAY['open'::text, 'used'::text, 'withdrawn'::text]))),
  primary key (token_hash)
);
CREATE INDEX reset_link_by_user ON reset_link USING btree (user_id);

create table reset_request (
  id bigint generated always as identity not null,
  fold text not null,
  language text not null,
  address inet not null,
  request_id text not null,
  asked_at timestamp with time zone not null,
  destination text,
  brand text,
  check ((char_length(brand) <= 100)),
  check ((char_length(destination) <= 2048)),
  primary key (id)
);

create table saml_assertion (
  connection_id uuid not null,
  assertion_hash bytea not null,
  ends_at timestamp with time zone not null,
  check ((octet_length(assertion_hash) = 32)),
  foreign key (connection_id) REFERENCES sso_connection(id) ON DELETE CASCADE,
  primary key (connection_id, assertion_hash)
);

create table saml_metadata_reading (
  connection_id uuid not null,
  read_at timestamp with time zone not null,
  differences text[] not null default '{}'::text[],
  foreign key (connection_id) REFERENCES sso_connection(id) ON DELETE CASCADE,
  primary key (connection_id)
);

create table sent_saml_logout (
  request_hash bytea not null,
  connection_id uuid not null,
  browser_hash bytea not null,
  ends_at timestamp with time zone not null,
  is_whole boolean,
  check ((octet_length(browser_hash) = 32)),
  check ((octet_length(request_hash) = 32)),
  foreign key (connection_id) REFERENCES sso_connection(id) ON DELETE CASCADE,
  primary key (request_hash)
);
CREATE INDEX sent_saml_logout_by_browser ON sent_saml_logout USING btree (browser_hash);
CREATE INDEX sent_saml_logout_by_connection ON sent_saml_logout USING btree (connection_id);
CREATE INDEX sent_saml_logout_by_end ON sent_saml_logout USING btree (ends_at);

create table session (
  token_hash bytea not null,
  user_id uuid not null,
  stage text not null,
  customer_ids uuid[] not null,
  address inet not null,
  created_at timestamp with time zone not null,
  last_seen_at timestamp with time zone not null,
  ends_at timestamp with time zone not null,
  checked_version bigint,
  checked_address inet,
  answer text,
  factor text,
  must_register boolean not null default false,
  code_tries integer not null default 0,
  clock_told boolean not null default false,
  connection_id uuid,
  sealed_id_token bytea,
  provider_ends_at timestamp with time zone,
  visit_id uuid,
  former_token_hash bytea,
  provider_subject_hash bytea,
  provider_session_hash bytea,
  browser_hash bytea,
  authenticated_at timestamp with time zone,
  last_code_hash bytea,
  last_code_at timestamp with time zone,
  clock_told_at_try integer,
  proven text not null default 'none'::text,
  press_at timestamp with time zone,
  replaces boolean not null default false,
  replaced_full boolean not null default false,
  replaced_connection_id uuid,
  sealed_replaced_id_token bytea,
  replaced_subject_hash bytea,
  replaced_session_hash bytea,
  clock_step bigint,
  clock_offset integer,
  sid uuid not null default gen_random_uuid(),
  fresh_proof text,
  fresh_proof_at timestamp with time zone,
  browser text,
  passkey_id uuid,
  fresh_proof_passkey_id uuid,
  former_ends_at timestamp with time zone,
  passkey_begun boolean not null default false,
  device_hash bytea,
  check (((fresh_proof IS NULL) = (fresh_proof_at IS NULL))),
  check ((char_length(browser) <= 100)),
  check ((factor = ANY (ARRAY['app'::text, 'email'::text]))),
  check ((fresh_proof = ANY (ARRAY['password'::text, 'code'::text]))),
  check ((octet_length(browser_hash) = 32)),
  check ((octet_length(device_hash) = 32)),
  check ((octet_length(former_token_hash) = 32)),
  check ((octet_length(last_code_hash) = 32)),
  check ((octet_length(provider_session_hash) = 32)),
  check ((octet_length(provider_subject_hash) = 32)),
  check ((octet_length(replaced_session_hash) = 32)),
  check ((octet_length(replaced_subject_hash) = 32)),
  check ((octet_length(token_hash) = 32)),
  check ((proven = ANY (ARRAY['none'::text, 'remembered'::text, 'code'::text]))),
  check ((stage = ANY (ARRAY['half'::text, 'full'::text]))),
  check (is_sealed(sealed_id_token)),
  check (is_sealed(sealed_replaced_id_token)),
  primary key (token_hash)
);
CREATE INDEX session_by_connection ON session USING btree (connection_id) WHERE (connection_id IS NOT NULL);
CREATE INDEX session_by_former_token ON session USING btree (former_token_hash) WHERE (former_token_hash IS NOT NULL);
CREATE INDEX session_by_replaced_connection ON session USING btree (replaced_connection_id) WHERE (replaced_connection_id IS NOT NULL);
CREATE INDEX session_by_user ON session USING btree (user_id);

create table shown_recovery_codes (
  user_id uuid not null,
  sealed_codes bytea not null,
  shown_until timestamp with time zone not null,
  session_hash bytea not null,
  check ((octet_length(session_hash) = 32)),
  check (is_sealed(sealed_codes)),
  foreign key (user_id) REFERENCES portal_user(id) ON DELETE CASCADE,
  primary key (user_id)
);

create table signed_out_session (
  token_hash bytea not null,
  user_id uuid not null,
  stage text not null,
  connection_id uuid,
  sealed_id_token bytea,
  ends_at timestamp with time zone not null,
  must_register boolean not null default false,
  by_replaced boolean not null default false,
  by_own_token boolean not null default false,
  check ((octet_length(token_hash) = 32)),
  check ((stage = ANY (ARRAY['half'::text, 'full'::text]))),
  check (is_sealed(sealed_id_token)),
  primary key (token_hash)
);
CREATE INDEX signed_out_session_by_end ON signed_out_session USING btree (ends_at);

create table sso_connection (
  id uuid not null default gen_random_uuid(),
  key text not null,
  name text not null,
  customer_id uuid not null,
  protocol text not null,
  active boolean not null default true,
  required boolean not null default false,
  makes_users boolean not null default false,
  trusts_email boolean not null default false,
  second_factor_values text[] not null default '{}'::text[],
  attributes jsonb not null default '{}'::jsonb,
  settings jsonb not null,
  sealed_secret bytea,
  secret_ends_at timestamp with time zone,
  created_at timestamp with time zone not null,
  shared_redirect_until timestamp with time zone,
  provider_networks cidr[] not null default '{}'::cidr[],
  answers_version integer not null default 0,
  check ((key ~ '^[a-z0-9][a-z0-9-]{0,62}$'::text)),
  check ((protocol = ANY (ARRAY['oidc'::text, 'saml'::text]))),
  check (is_sealed(sealed_secret)),
  foreign key (customer_id) REFERENCES customer(id) ON DELETE CASCADE,
  primary key (id),
  unique (key)
);
CREATE INDEX sso_connection_by_customer ON sso_connection USING btree (customer_id);

create table sso_domain (
  domain text not null,
  connection_id uuid not null,
  foreign key (connection_id) REFERENCES sso_connection(id) ON DELETE CASCADE,
  primary key (domain, connection_id)
);
CREATE INDEX sso_domain_by_connection ON sso_domain USING btree (connection_id);

create table sso_request (
  id uuid not null default gen_random_uuid(),
  state_hash bytea not null,
  connection_id uuid not null,
  browser_hash bytea,
  sealed_details bytea not null,
  made_at timestamp with time zone not null,
  ends_at timestamp with time zone not null,
  sealed_answer bytea,
  used_at timestamp with time zone,
  answer_hash bytea,
  answer_ends_at timestamp with time zone,
  sealed_question bytea,
  question_hash bytea,
  question_ends_at timestamp with time zone,
  sealed_outcome bytea,
  outcome_ends_at timestamp with time zone,
  answers_version integer not null default 0,
  check ((((answer_hash IS NULL) = (answer_ends_at IS NULL)) AND ((sealed_answer IS NULL) OR (answer_hash IS NOT NULL)))),
  check ((((sealed_question IS NULL) = (question_hash IS NULL)) AND ((sealed_question IS NULL) = (question_ends_at IS NULL)))),
  check (((sealed_outcome IS NULL) OR (outcome_ends_at IS NOT NULL))),
  check ((octet_length(answer_hash) = 32)),
  check ((octet_length(browser_hash) = 32)),
  check ((octet_length(question_hash) = 32)),
  check ((octet_length(state_hash) = 32)),
  check (is_sealed(sealed_answer)),
  check (is_sealed(sealed_details)),
  check (is_sealed(sealed_outcome)),
  check (is_sealed(sealed_question)),
  foreign key (connection_id) REFERENCES sso_connection(id) ON DELETE CASCADE,
  primary key (id),
  unique (state_hash)
);
CREATE INDEX sso_request_by_browser ON sso_request USING btree (browser_hash);
CREATE INDEX sso_request_by_connection ON sso_request USING btree (connection_id);

create table sso_subject (
  connection_id uuid not null,
  subject text not null,
  user_id uuid not null,
  linked_at timestamp with time zone not null,
  sessions_ended_at timestamp with time zone,
  foreign key (connection_id) REFERENCES sso_connection(id) ON DELETE CASCADE,
  foreign key (user_id) REFERENCES portal_user(id) ON DELETE CASCADE,
  primary key (connection_id, subject),
  unique (connection_id, user_id)
);
CREATE INDEX sso_subject_by_user ON sso_subject USING btree (user_id);

create table throttle (
  key text not null,
  failures double precision not null,
  changed_at timestamp with time zone not null,
  blocked_until timestamp with time zone,
  last_guess bytea,
  admitted boolean not null,
  check ((octet_length(last_guess) = 8)),
  primary key (key)
);

create table totp (
  user_id uuid not null,
  sealed_secret bytea not null,
  last_step bigint not null,
  confirmed_at timestamp with time zone not null,
  check (is_sealed(sealed_secret)),
  foreign key (user_id) REFERENCES portal_user(id) ON DELETE CASCADE,
  primary key (user_id)
);

CREATE OR REPLACE FUNCTION access_changed()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  update access_version set version = version + 1;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION device_forgotten()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  update device set is_shared = true
  where token_hash = old.token_hash and last_used_at <= old.last_used_at and not is_shared;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION is_sealed(bytes bytea)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN ((octet_length(bytes) >= 28) AND (encode(bytes, 'escape'::text) !~ '^\\\\x[0-9a-f]*$'::text));

CREATE OR REPLACE FUNCTION session_ended()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  delete from pending_totp where session_hash in (select token_hash from ended);
  delete from email_code where session_hash in (select token_hash from ended);
  delete from shown_recovery_codes where session_hash in (select token_hash from ended);
  insert into hub_logout (audience, sid, user_id)
  select r.audience, e.sid, e.user_id from ended e cross join hub_receiver r where e.stage = 'full';
  return null;
end $function$;

CREATE OR REPLACE FUNCTION throttle_attempt(attempt_key text, guess bytea, at timestamp with time zone, free_failures double precision, leak_seconds double precision, first_wait double precision, longest_wait double precision, even_waiting boolean DEFAULT false)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
declare
  was_admitted boolean;
begin
  insert into throttle as t (key, failures, changed_at, blocked_until, last_guess, admitted)
  values (attempt_key, 1, at, case when free_failures <= 1 then at + make_interval(secs => first_wait) end, guess, true)
  on conflict (key) do update set
    (failures, changed_at, blocked_until, last_guess, admitted) = (
      select
        case when same or not free then t.failures else leaked + 1 end,
        case when same or not free then t.changed_at else at end,
        case
          when same or not free then t.blocked_until
          when ceil(leaked) + 1 >= free_failures then
            greatest(t.blocked_until, at + make_interval(
              secs => least(longest_wait, first_wait * power(2, least(30, ceil(leaked) + 1 - free_failures)))))
        end,
        case when free then guess else t.last_guess end,
        same or free
      from (
        select
          coalesce(t.last_guess = guess, false) as same,
          even_waiting or coalesce(t.blocked_until <= at, true) as free,
          greatest(0, t.failures - greatest(0, extract(epoch from at - t.changed_at)) / leak_seconds) as leaked
      ) as state
    )
  returning t.admitted into was_admitted;
  return was_admitted;
end $function$;

CREATE OR REPLACE FUNCTION throttle_guess(attempt_key text, guess bytea, at timestamp with time zone, free_failures double precision, leak_seconds double precision, first_wait double precision, longest_wait double precision)
 RETURNS boolean
 LANGUAGE plpgsql
AS $function$
declare
  is_repeated boolean;
begin
  insert into throttle as t (key, failures, changed_at, admitted)
  values (attempt_key, 0, at, true)
  on conflict (key) do update set admitted = t.admitted
  returning coalesce(last_guess = guess, false) into is_repeated;
  if is_repeated then
    update throttle set last_guess = null where key = attempt_key;
  else
    perform throttle_attempt(attempt_key, guess, at, free_failures, leak_seconds, first_wait, longest_wait, true);
  end if;
  return not is_repeated;
end $function$;

CREATE OR REPLACE FUNCTION user_removed()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  delete from session where user_id in (select id from removed);
  delete from device where user_id in (select id from removed);
  delete from mail where user_id in (select id from removed);
  return null;
end $function$;

CREATE TRIGGER connection_changed AFTER DELETE OR UPDATE OF active ON sso_connection FOR EACH STATEMENT EXECUTE FUNCTION access_changed();

CREATE TRIGGER customer_changed AFTER DELETE OR UPDATE ON customer FOR EACH STATEMENT EXECUTE FUNCTION access_changed();

CREATE TRIGGER device_forgotten AFTER DELETE ON device FOR EACH ROW EXECUTE FUNCTION device_forgotten();

CREATE TRIGGER membership_removed AFTER DELETE OR UPDATE ON membership FOR EACH STATEMENT EXECUTE FUNCTION access_changed();

CREATE TRIGGER session_ended AFTER DELETE ON session REFERENCING OLD TABLE AS ended FOR EACH STATEMENT EXECUTE FUNCTION session_ended();

CREATE TRIGGER user_changed AFTER UPDATE OF username, email, language, active ON portal_user FOR EACH STATEMENT EXECUTE FUNCTION access_changed();

CREATE TRIGGER user_removed AFTER DELETE ON portal_user REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION user_removed();
