-- Sign-in at a customer's own identity provider.

-- An identity provider that a customer trusts to say who somebody is.
create table sso_connection (
  id uuid primary key default gen_random_uuid(),
  key text not null unique check (key ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  -- As people see it where there is a choice.
  name text not null,
  customer_id uuid not null references customer on delete cascade,
  protocol text not null check (protocol in ('oidc', 'saml')),
  active boolean not null default true,
  -- Nobody of its domains signs in by password.
  required boolean not null default false,
  -- Makes a user whom nobody has added before (just in time).
  makes_users boolean not null default false,
  -- Its e-mail addresses count as verified even where it does not say so.
  trusts_email boolean not null default false,
  -- Values of acr, amr or AuthnContextClassRef that stand for a second factor.
  second_factor_values text[] not null default '{}',
  -- Which claim or attribute says what: email, username, language.
  attributes jsonb not null default '{}',
  -- What the protocol needs: single-sign-on/settings.ts.
  settings jsonb not null,
  -- The client secret, sealed and bound to this row (secrets/sealed.ts), and when the provider lets it end.
  sealed_secret bytea,
  secret_ends_at timestamptz,
  created_at timestamptz not null
);
create index sso_connection_by_customer on sso_connection (customer_id);

-- The e-mail domains that a connection vouches for, in their ASCII form.
create table sso_domain (
  domain text not null,
  connection_id uuid not null references sso_connection on delete cascade,
  primary key (domain, connection_id)
);
create index sso_domain_by_connection on sso_domain (connection_id);

-- Who a provider means by a subject: the only thing that counts once it is known (decisions §9).
create table sso_subject (
  connection_id uuid not null references sso_connection on delete cascade,
  subject text not null,
  user_id uuid not null references portal_user on delete cascade,
  linked_at timestamptz not null,
  primary key (connection_id, subject),
  unique (connection_id, user_id)
);
create index sso_subject_by_user on sso_subject (user_id);

-- A visitor who was sent to a provider.
create table sso_request (
  id uuid primary key default gen_random_uuid(),
  -- SHA-256 of what the provider sends back: state, or RelayState.
  state_hash bytea not null unique,
  connection_id uuid not null references sso_connection on delete cascade,
  -- SHA-256 of the token of the browser that began; nobody else finishes. Null where the provider began.
  browser_hash bytea,
  -- What is needed for the answer, sealed and bound to this row.
  sealed_details bytea not null,
  made_at timestamptz not null,
  ends_at timestamptz not null,
  -- What a SAML answer said, sealed: it comes by a request without cookies and waits for the browser's own.
  sealed_answer bytea,
  used_at timestamptz
);
create index sso_request_by_connection on sso_request (connection_id);

-- Assertions that were used, for as long as they could be shown again.
create table saml_assertion (
  connection_id uuid not null references sso_connection on delete cascade,
  assertion_hash bytea not null,
  ends_at timestamptz not null,
  primary key (connection_id, assertion_hash)
);

-- The portal's own keys: they sign what it sends to providers and open what they seal for it.
create table portal_key (
  id uuid primary key default gen_random_uuid(),
  -- One signs. The next one is published before, the last one after its time, so that nobody is surprised.
  stage text not null check (stage in ('next', 'current', 'last')),
  certificate text not null,
  -- PKCS #8, sealed and bound to this row.
  sealed_key bytea not null,
  made_at timestamptz not null,
  ends_at timestamptz not null
);
create unique index portal_key_stage on portal_key (stage);

-- Where a session came from, and what its provider wants to see again at sign-out.
alter table session
  add column connection_id uuid,
  add column sealed_id_token bytea;
