-- The whole schema. Its order: who may come in, how they prove who they are, the customers' own identity providers, the
-- sessions, what the hubs behind the portal get, the work that waits, and what is counted and recorded.

-- Who may come in.

create table customer (
  id uuid primary key default gen_random_uuid(),
  key text not null unique check (key ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  name text not null,
  active boolean not null default true,
  -- Empty: anywhere.
  allowed_networks cidr[] not null default '{}',
  two_factor text not null default 'off' check (two_factor in ('off', 'app', 'email')),
  remember_devices boolean not null default true,
  passkeys text not null default 'on' check (passkeys in ('off', 'on')),
  new_device_mail boolean not null default false,
  created_at timestamptz not null
);

create table portal_user (
  id uuid primary key default gen_random_uuid(),
  username text not null,
  email text not null,
  -- As it is shown; null: the username is.
  name text,
  -- Argon2id or an imported kind, in PHC form; null: no password.
  password_hash text,
  active boolean not null default true,
  may_change_password boolean not null default true,
  language text check (language in ('en', 'de', 'es', 'pl', 'nl', 'it')),
  -- What they may do at the desk for every customer.
  role text check (role in ('operator', 'support')),
  created_at timestamptz not null
);
-- For the list of users, which shows the first ones by name.
create index portal_user_by_name on portal_user (username, id);
-- For the search of the desk: the words of a user's names, without accents, and without the domains of addresses: thousands have the same.
create function search_words(text text) returns tsvector language sql immutable parallel safe return
  to_tsvector('simple', regexp_replace(regexp_replace(lower(normalize(text, nfkd)), '[\u0300-\u036f]|@\S*', '', 'g'), '[^[:alnum:]]+', ' ', 'g'));
create index portal_user_by_words on portal_user using gin (search_words(username || ' ' || email || ' ' || coalesce(name, '')));

-- Usernames and emails in their folded form share one space, so that a typed name means one user at most.
create table login_name (
  fold text primary key,
  user_id uuid not null references portal_user on delete cascade
);
create index login_name_user on login_name (user_id);

create table membership (
  user_id uuid not null references portal_user on delete cascade,
  customer_id uuid not null references customer on delete cascade,
  -- What the user belongs to within the customer; only hubs know what it means.
  groups text[] not null default '{}',
  -- Whether the user looks after this customer at the desk.
  administers boolean not null default false,
  primary key (user_id, customer_id)
);
create index membership_customer on membership (customer_id, user_id);


-- How they prove who they are.

-- Hashes that were replaced, so that a password is not chosen again too soon.
create table former_password (
  id bigint generated always as identity primary key,
  user_id uuid not null references portal_user on delete cascade,
  password_hash text not null,
  replaced_at timestamptz not null
);
create index former_password_by_user on former_password (user_id, id desc);

create table reset_link (
  -- SHA-256 of the token; the token itself is only in the mail.
  token_hash bytea primary key check (octet_length(token_hash) = 32),
  -- A link outlives its user, so that its holder learns that the account is gone.
  user_id uuid references portal_user on delete set null,
  purpose text not null default 'reset' check (purpose in ('reset', 'invitation')),
  made_at timestamptz not null,
  -- Counted from the moment when the mail leaves, until then from the request; made_at once a newer link has replaced it.
  ends_at timestamptz not null,
  used_at timestamptz
);
create index reset_link_by_user on reset_link (user_id);

-- A confirmed authenticator app.
create table totp (
  user_id uuid primary key references portal_user on delete cascade,
  sealed_secret bytea not null,
  -- The last time step that was accepted; steps only go up (RFC 6238 §5.2).
  last_step bigint not null,
  confirmed_at timestamptz not null
);

-- Users who have proven once that codes by email reach them.
create table email_factor (
  user_id uuid primary key references portal_user on delete cascade,
  confirmed_at timestamptz not null
);

create table recovery_code (
  user_id uuid not null references portal_user on delete cascade,
  -- Keyed and bound to the user.
  code_hash bytea not null check (octet_length(code_hash) = 32),
  used_at timestamptz,
  primary key (user_id, code_hash)
);

-- A browser that need not be asked for a code.
create table remembered_device (
  id uuid primary key default gen_random_uuid(),
  token_hash bytea not null unique check (octet_length(token_hash) = 32),
  user_id uuid not null references portal_user on delete cascade,
  -- By what it was remembered: it spares no stronger factor.
  factor text not null default 'email' check (factor in ('app', 'email')),
  browser text,
  address inet not null,
  made_at timestamptz not null,
  last_used_at timestamptz not null,
  ends_at timestamptz not null
);
create index remembered_device_by_user on remembered_device (user_id);

-- A browser that signed in before as this user: its right password is never kept out by somebody else's guesses.
create table device (
  token_hash bytea not null check (octet_length(token_hash) = 32),
  user_id uuid not null references portal_user on delete cascade,
  last_used_at timestamptz not null,
  -- Only where the password was typed has the browser guesses of its own; else it is known for the mail of new browsers alone.
  by_password boolean not null default false,
  primary key (token_hash, user_id)
);
create index device_by_user on device (user_id);

-- Only public keys are stored: what is here signs nobody in.
create table passkey (
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null references portal_user on delete cascade,
  credential_id bytea not null unique check (octet_length(credential_id) between 16 and 1023),
  -- In COSE form (RFC 9052 §7), as the authenticator gave it.
  public_key bytea not null,
  rp_id text not null,
  counter bigint not null,
  backup_eligible boolean not null,
  backed_up boolean not null,
  aaguid uuid not null,
  transports text[] not null default '{}',
  name text not null check (char_length(name) between 1 and 60),
  made_at timestamptz not null,
  last_used_at timestamptz
);
create index passkey_by_user on passkey (user_id);



-- The customers' own identity providers.

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
  -- Its email addresses count as verified even where it does not say so.
  trusts_email boolean not null default false,
  -- Values of acr, amr or AuthnContextClassRef that stand for a second factor.
  second_factor_values text[] not null default '{}',
  -- Which claim or attribute says what: email, username, language.
  attributes jsonb not null default '{}',
  -- What the protocol needs: single-sign-on/sso-connection.ts.
  settings jsonb not null,
  -- The client secret, and when the provider lets it end.
  sealed_secret bytea,
  secret_ends_at timestamptz,
  -- Networks besides the public ones in which the provider may be.
  provider_networks cidr[] not null default '{}',
  -- When a SAML provider's metadata were read again, and what is there and not here, in words: told, and never taken over by itself.
  metadata_read_at timestamptz,
  metadata_differences text[] not null default '{}',
  -- Raised by every change: a visit that began before it is refused.
  version integer not null default 1,
  created_at timestamptz not null
);
create index sso_connection_by_customer on sso_connection (customer_id);

-- The email domains that a connection vouches for, in their ASCII form.
create table sso_domain (
  domain text not null,
  connection_id uuid not null references sso_connection on delete cascade,
  primary key (domain, connection_id)
);
create index sso_domain_by_connection on sso_domain (connection_id);

-- Who a provider means by a subject: the only thing that counts once it is known.
create table sso_subject (
  connection_id uuid not null references sso_connection on delete cascade,
  subject text not null,
  user_id uuid not null references portal_user on delete cascade,
  linked_at timestamptz not null,
  primary key (connection_id, subject),
  unique (connection_id, user_id)
);
create index sso_subject_by_user on sso_subject (user_id);

-- A visitor who was sent to a provider: it belongs to one browser and is used once.
create table visit (
  id uuid primary key,
  -- SHA-256 of what the provider sends back: state, or RelayState.
  state_hash bytea not null unique check (octet_length(state_hash) = 32),
  -- SHA-256 of the token of the browser that began.
  browser_hash bytea not null check (octet_length(browser_hash) = 32),
  connection_id uuid not null references sso_connection on delete cascade,
  -- As it was when the visit began.
  connection_version integer not null,
  -- What the answer must match, and where the visitor goes then.
  sealed_details bytea not null,
  made_at timestamptz not null,
  ends_at timestamptz not null,
  used_at timestamptz
);
create index visit_by_connection on visit (connection_id);
create index visit_by_browser on visit (browser_hash);

-- The portal's own keys: they sign what it sends to providers and open what those seal for it.
create table portal_key (
  id uuid primary key default gen_random_uuid(),
  -- One signs. The next one is published before, the last one after its time, so that nobody is surprised.
  stage text not null check (stage in ('next', 'current', 'last')),
  certificate text not null,
  -- PKCS #8.
  sealed_key bytea not null,
  made_at timestamptz not null,
  ends_at timestamptz not null
);
create unique index portal_key_stage on portal_key (stage);


-- The sessions.

create table session (
  -- Also what hubs know it by. It opens nothing, unlike the token.
  id uuid primary key default gen_random_uuid(),
  -- SHA-256 of the token; the token itself is only in the browser.
  token_hash bytea not null unique check (octet_length(token_hash) = 32),
  user_id uuid not null references portal_user on delete cascade,
  -- Half: the password was right, and something is still to be proven.
  stage text not null check (stage in ('half', 'full')),
  -- The customers that admitted the address at sign-in; the session is limited to them.
  customer_ids uuid[] not null,
  address inet not null,
  -- As the browser named itself at the sign-in.
  browser text check (char_length(browser) <= 100),
  created_at timestamptz not null,
  last_seen_at timestamptz not null,
  ends_at timestamptz not null,
  -- When it got its token instead of another one.
  rotated_at timestamptz,

  -- What a half session still has to prove, in order.
  waits_for text[] not null default '{}' check (waits_for <@ array['email', 'app', 'passkey']),
  -- Codes that were tried, right or not.
  code_tries integer not null default 0,

  -- What was proven last, and when; of a provider, when it says that the person authenticated: null if it does not say.
  proof text not null default 'password' check (proof in ('password', 'code', 'passkey', 'remembered', 'provider')),
  proven_at timestamptz,
  -- The passkey that opened it: its removal ends the session. No foreign key: the session that removes its own passkey stays.
  passkey_id uuid,

  -- The provider that it came from, and what that one wants to see at sign-out: the ID token, or the NameID and SessionIndex.
  connection_id uuid references sso_connection on delete cascade,
  sealed_id_token bytea,
  -- By which subject, and in which session of the provider, it came (SHA-256 of each), so that the provider can end it.
  provider_subject_hash bytea check (octet_length(provider_subject_hash) = 32),
  provider_session_hash bytea check (octet_length(provider_session_hash) = 32),
  -- The latest end that the provider allows.
  provider_ends_at timestamptz
);
create index session_by_user on session (user_id);
create index session_by_connection on session (connection_id) where connection_id is not null;

-- The one code that a half session waits for by email.
create table email_code (
  session_id uuid primary key references session on delete cascade,
  -- Keyed and bound to the session: six digits could be tried through in no time.
  code_hash bytea not null check (octet_length(code_hash) = 32),
  made_at timestamptz not null,
  ends_at timestamptz not null,
  sent integer not null default 1
);

-- An app's secret that is shown to be confirmed: of one user in one browser (SHA-256 of its `device` cookie), so that a sign-in
-- that was cancelled does not make the app useless that was set up in it.
create table pending_totp (
  user_id uuid not null references portal_user on delete cascade,
  device_hash bytea not null check (octet_length(device_hash) = 32),
  sealed_secret bytea not null,
  ends_at timestamptz not null,
  primary key (user_id, device_hash)
);

-- Recovery codes in the clear, sealed, for as long as they may be shown to the session that has just registered.
create table shown_recovery_codes (
  user_id uuid primary key references portal_user on delete cascade,
  session_id uuid not null references session on delete cascade,
  sealed_codes bytea not null,
  shown_until timestamptz not null
);
create index shown_recovery_codes_by_session on shown_recovery_codes (session_id);

-- A ceremony that a browser has begun. It is taken by the first answer, right or wrong.
create table passkey_challenge (
  challenge_hash bytea primary key check (octet_length(challenge_hash) = 32),
  -- Of what it was begun for, the browser's cookie, and the session or link that began it, if any.
  owner_hash bytea not null check (octet_length(owner_hash) = 32),
  ends_at timestamptz not null
);
create index passkey_challenge_by_end on passkey_challenge (ends_at);

-- What the hubs behind the portal get.

-- Keys that sign tokens for hubs: published until ends_at; the newest one whose signs_from has come signs.
create table hub_key (
  -- Also the `kid` of its tokens.
  id uuid primary key,
  -- The public part (RFC 7517).
  jwk jsonb not null,
  -- PKCS #8 in PEM.
  sealed_key bytea not null,
  made_at timestamptz not null,
  signs_from timestamptz not null,
  -- Null: until there is a newer one.
  ends_at timestamptz
);

-- The hubs that are told when a session ends, as the configuration of the instance that started last has them.
create table hub_receiver (
  audience text primary key
);


-- The work that waits: emails to send, requests for a reset link to answer, and per hub the sessions of whose end it is to be
-- told. A row is deleted when its work is done.
create table job (
  id uuid primary key default gen_random_uuid(),
  queue text not null,
  -- 1: somebody waits for it before they can go on.
  priority smallint not null default 0,
  payload jsonb not null,
  -- Whose removal takes it along.
  user_id uuid references portal_user on delete cascade,
  -- The token that an email carries, and the hash under which it is kept elsewhere.
  sealed_token bytea,
  token_hash bytea check (octet_length(token_hash) = 32),
  -- While it is being done: when whoever took it counts as gone.
  run_after timestamptz not null,
  tries integer not null default 0,
  -- Why it was not done the last time, for the operator.
  problem text,
  made_at timestamptz not null
);
create index job_by_turn on job (queue, priority desc, run_after);
create index job_by_user on job (user_id);

-- The newest file of people that the desk adds to a customer: a hundred thousand lines take longer than anybody keeps a page open.
create table user_import (
  customer_id uuid primary key references customer on delete cascade,
  -- Of this file.
  id uuid not null unique,
  -- CSV in UTF-8: the line that names the fields, and the others.
  header text not null,
  file bytea not null,
  stage text not null check (stage in ('checking', 'checked', 'running', 'done')),
  -- How many lines follow the header, and how far they are read.
  lines integer not null,
  read integer not null default 0,
  read_bytes integer not null default 0,
  added integer not null default 0,
  unchanged integer not null default 0,
  -- The first refused lines with their problems, and how many there are.
  refused jsonb not null default '[]',
  refused_count integer not null default 0,
  made_at timestamptz not null
);
-- Parts of it are read without unpacking the whole.
alter table user_import alter column file set storage external;


-- What is counted and recorded.

-- Counts of failed guesses per account, address, network, device and in all. They leak away with time.
create table throttle (
  key text primary key,
  failures double precision not null,
  changed_at timestamptz not null,
  blocked_until timestamptz,
  -- A keyed digest of the last guess: the same wrong password twice in a row counts once.
  last_guess bytea check (octet_length(last_guess) = 8),
  -- Whether the last attempt was let through; what throttle_attempt answers.
  admitted boolean not null
) with (fillfactor = 70);

-- Counts one attempt under a key and says whether it may go on. One failure leaks away every leak_seconds; from
-- free_failures on each further one makes the next wait twice as long, from first_wait to longest_wait seconds.
-- An attempt during a wait is refused and not counted; the same guess as the one before is let through, uncounted.
-- With even_waiting a failure counts during a wait too: it was let through before the wait began, beside others.
create type throttle_limit as (
  free_failures double precision,
  leak_seconds double precision,
  first_wait double precision,
  longest_wait double precision
);
create function throttle_attempt(
  attempt_key text,
  guess bytea,
  at timestamptz,
  most throttle_limit,
  even_waiting boolean default false
) returns boolean language plpgsql as $$
declare
  was_admitted boolean;
begin
  insert into throttle as t (key, failures, changed_at, blocked_until, last_guess, admitted)
  values (attempt_key, 1, at, case when most.free_failures <= 1 then at + make_interval(secs => most.first_wait) end, guess, true)
  on conflict (key) do update set
    (failures, changed_at, blocked_until, last_guess, admitted) = (
      select
        case when same or not free then t.failures else leaked + 1 end,
        case when same or not free then t.changed_at else at end,
        case
          when same or not free then t.blocked_until
          when ceil(leaked) + 1 >= most.free_failures then
            greatest(t.blocked_until, at + make_interval(
              secs => least(most.longest_wait, most.first_wait * power(2, least(30, ceil(leaked) + 1 - most.free_failures)))))
        end,
        case when free then guess else t.last_guess end,
        same or free
      from (
        select
          coalesce(t.last_guess = guess, false) as same,
          even_waiting or coalesce(t.blocked_until <= at, true) as free,
          greatest(0, t.failures - greatest(0, extract(epoch from at - t.changed_at)) / most.leak_seconds) as leaked
      ) as state
    )
  returning t.admitted into was_admitted;
  return was_admitted;
end $$;

-- No foreign keys: the record outlives what it tells of.
create table audit_event (
  id bigint generated always as identity primary key,
  at timestamptz not null,
  event text not null,
  reason text,
  reference text,
  user_id uuid,
  username text,
  customer_key text,
  connection text,
  address inet,
  browser text,
  request_id text,
  -- The chain of decisions, in order, each with its outcome.
  steps jsonb not null default '[]',
  -- Who did it: os:NAME by a command, or the username of who did it on their account page.
  actor text
);
create index audit_event_at on audit_event using brin (at);
create index audit_event_reference on audit_event (reference) where reference is not null;
create index audit_event_of_user on audit_event (user_id, id desc) where user_id is not null;
-- For the newest change, which whoever changes a customer at the desk must have seen.
create index audit_event_of_customer on audit_event (customer_key, id desc) where event = 'customer-changed';
-- For a customer's own administrators, whose events may be a few among millions.
create index audit_event_by_customer on audit_event (customer_key, id desc) where customer_key is not null;
create index audit_event_of_several on audit_event (id desc) where customer_key like '%, %';


-- What happens by itself.

-- Whatever ends a session, the hubs are told, also of a user who is removed.
create function session_ended() returns trigger language plpgsql as $$
begin
  insert into job (queue, payload, run_after, made_at)
  select 'hub-logout ' || r.audience, jsonb_build_object('sid', e.id, 'userId', e.user_id), '-infinity', now()
  from ended e cross join hub_receiver r where e.stage = 'full';
  return null;
end $$;
create trigger session_ended after delete on session referencing old table as ended
  for each statement execute function session_ended();


-- The second wall of the desk (docs/desk.md). What an administrator reads and writes there runs as the role vestibule_desk, with
-- the customers that they look after in a setting. The owner of the tables, as whom all else runs, is not held by these rules.

create function desk_customers() returns uuid[] language sql stable as $$
  select string_to_array(nullif(current_setting('vestibule.desk_customers', true), ''), ',')::uuid[]
$$;

-- Whether a person belongs to no customer besides these, and has no role: only then is their way in the administrator's to change.
create function is_desks_alone(person uuid) returns boolean language sql stable security definer set search_path from current as $$
  select not exists (select from membership where user_id = person and customer_id <> all (desk_customers()))
    and not exists (select from portal_user where id = person and role is not null)
$$;

-- The people of these customers with words in their names that begin so. Under the rules below no index would find them: those hold
-- back each operator that might tell of a row before it is known to be theirs to see.
create function desk_people(words tsquery) returns setof uuid language sql stable security definer set search_path from current as $$
  select u.id from portal_user u
  where search_words(u.username || ' ' || u.email || ' ' || coalesce(u.name, '')) @@ words
    and exists (select from membership m where m.user_id = u.id and m.customer_id = any (desk_customers()))
$$;

-- Ends a person's sessions for these customers: what the sessions open of others stays. Returns how many.
create function end_desk_sessions(person uuid) returns integer language plpgsql security definer set search_path from current as $$
declare
  ended integer;
begin
  update session s set customer_ids = array(select id from unnest(s.customer_ids) as own (id) where id <> all (desk_customers()))
  where s.user_id = person and s.customer_ids && desk_customers();
  get diagnostics ended = row_count;
  delete from session where user_id = person and customer_ids = '{}';
  return ended;
end $$;

alter table customer enable row level security;
create policy desk on customer using (id = any (desk_customers()));

alter table membership enable row level security;
create policy desk on membership using (customer_id = any (desk_customers()));

alter table portal_user enable row level security;
create policy desk_reads on portal_user for select using (exists (select from membership m where m.user_id = id));
create policy desk_adds on portal_user for insert with check (role is null);
create policy desk_changes on portal_user for update using (exists (select from membership m where m.user_id = id))
  with check (is_desks_alone(id) and role is null);

-- One name means one person at most, whoever's: a name is seen to be taken.
alter table login_name enable row level security;
create policy desk_reads on login_name for select using (true);
create policy desk_adds on login_name for insert with check (is_desks_alone(user_id));
create policy desk_removes on login_name for delete
  using (exists (select from membership m where m.user_id = login_name.user_id) and is_desks_alone(user_id));

alter table session enable row level security;
create policy desk_reads on session for select using (customer_ids && desk_customers());
create policy desk_changes on session for update using (is_desks_alone(user_id));
-- A person with other customers too: what opens only these, as all by a connection, and what waits for a factor they ask for.
create policy desk_ends on session for delete
  using (is_desks_alone(user_id) or customer_ids <@ desk_customers() or stage = 'half');

alter table sso_connection enable row level security;
create policy desk on sso_connection using (customer_id = any (desk_customers()));

alter table user_import enable row level security;
create policy desk on user_import using (customer_id = any (desk_customers()));

alter table audit_event enable row level security;
create policy desk_reads on audit_event for select
  using (exists (select from customer c where c.key = any (string_to_array(customer_key, ', ')) and c.created_at <= at));
create policy desk_adds on audit_event for insert with check (true);

do $$
declare
  kept text;
begin
  foreach kept in array array['former_password', 'reset_link', 'totp', 'email_factor', 'recovery_code', 'remembered_device',
    'device', 'passkey', 'sso_subject', 'pending_totp', 'shown_recovery_codes', 'job']
  loop
    execute format('alter table %I enable row level security', kept);
    execute format('create policy desk on %1$I using (
      exists (select from membership m where m.user_id = %1$I.user_id) and is_desks_alone(%1$I.user_id))', kept);
  end loop;
end $$;
-- Of a session that ends, a hub is told: a job of nobody.
create policy desk_adds on job for insert with check (user_id is null);

-- A connection's domains and visits are its customer's.
alter table sso_domain enable row level security;
create policy desk on sso_domain using (exists (select from sso_connection c where c.id = connection_id));
alter table visit enable row level security;
create policy desk on visit using (exists (select from sso_connection c where c.id = connection_id));

-- What no administrator needs.
alter table email_code enable row level security;
alter table passkey_challenge enable row level security;
alter table portal_key enable row level security;
alter table hub_key enable row level security;
