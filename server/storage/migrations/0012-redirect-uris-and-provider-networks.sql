-- Each connection has a redirect URI of its own, and reaches no internal network unless the operator lists it.

alter table sso_connection
  -- Until when the redirect URI that all connections shared is used, which its provider knows; null: its own.
  add column shared_redirect_until timestamptz,
  -- The networks besides the public ones in which its provider may be.
  add column provider_networks cidr[] not null default '{}';

-- Their providers know no other redirect URI yet: half a year to register the new one.
update sso_connection set shared_redirect_until = date_trunc('day', now()) + interval '180 days' where protocol = 'oidc';

-- Plain http was for a provider on this very machine alone, and whoever wrote that address meant it.
update sso_connection set provider_networks = '{127.0.0.0/8,::1/128}'
where coalesce(settings ->> 'issuer', settings ->> 'metadataUrl') ~ '^http://';
