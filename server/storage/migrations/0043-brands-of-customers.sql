-- A customer may have a brand of its own (docs/decisions/0045): what its file sets, and its logos in base64, checked when
-- it was set. Instances notice a change by the version, which no two brands share.
create table customer_brand (
  customer_id uuid primary key references customer on delete cascade,
  settings jsonb not null,
  logo text check (char_length(logo) <= 100000),
  logo_dark text check (char_length(logo_dark) <= 100000),
  changed_at timestamptz not null,
  version bigserial not null unique
);

-- Names of hosts that lead to the portal in a customer's brand; each belongs to one customer.
create table customer_host (
  host text primary key check (host = lower(host) and char_length(host) <= 255),
  customer_id uuid not null references customer on delete cascade
);
create index customer_host_customer on customer_host (customer_id);

-- The brand in which a link was asked for: that of the page, by the key of its customer.
alter table reset_request
  add column brand text check (char_length(brand) <= 100);
