-- Who may come in: customers, users, and the names they sign in by.

create table customer (
  id uuid primary key default gen_random_uuid(),
  key text not null unique check (key ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  name text not null,
  -- Empty means anywhere (decisions §7).
  allowed_networks cidr[] not null default '{}',
  two_factor text not null default 'off' check (two_factor in ('off', 'app', 'email')),
  active boolean not null default true,
  created_at timestamptz not null
);

create table portal_user (
  id uuid primary key default gen_random_uuid(),
  username text not null,
  email text not null,
  -- Argon2id in PHC form; null for a user who has no password.
  password_hash text,
  active boolean not null default true,
  may_change_password boolean not null default true,
  language text check (language in ('en', 'de', 'es', 'pl', 'nl', 'it')),
  created_at timestamptz not null
);

-- Usernames and e-mails in their folded form share one space, so that a typed name means one user at most.
create table login_name (
  fold text primary key,
  user_id uuid not null references portal_user on delete cascade
);
create index login_name_user on login_name (user_id);

create table membership (
  user_id uuid not null references portal_user on delete cascade,
  customer_id uuid not null references customer on delete cascade,
  primary key (user_id, customer_id)
);
create index membership_customer on membership (customer_id);
