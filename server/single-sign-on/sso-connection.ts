import { type Connection, rowOrNull } from '../database/database.ts';

/**
 * How we authenticate at the token endpoint: by a shared secret, as the provider announces, in the header (`basic`) or
 * in the body (`post`); or by a signature with the portal's own key.
 */
export type ClientAuthentication = 'secret' | 'basic' | 'post' | 'privateKey';

/** The settings of an OpenID Connect connection. */
export type OidcSettings = {
  /** As written by the provider in discovery and in every token. */
  issuer: string;
  clientId: string;
  clientAuthentication: ClientAuthentication;
  /** Besides `openid`. */
  scopes: string[];
};

/** Where single logout requests go, and answers if elsewhere, and by which binding (SAML metadata §2.2.2). */
export type SamlLogoutService = { url: string; responseUrl: string; binding: 'redirect' | 'post' };

/** The settings of a SAML connection, all from the provider's metadata. */
export type SamlSettings = {
  entityId: string;
  signOnUrl: string;
  /** The binding for providers that accept no redirects: a form (SAML bindings §3.5). */
  signOnBinding?: 'post' | undefined;
  /** The provider's single logout; absent if it has none. */
  logout?: SamlLogoutService | undefined;
  /** PEM; an answer signed by any of them is valid. */
  certificates: string[];
  /** Where the metadata came from, to be refreshed; null for a file. */
  metadataUrl: string | null;
  mayBegin: boolean;
  wantsEncryption: boolean;
};

export type ProtocolSettings =
  | { protocol: 'oidc'; settings: OidcSettings }
  | { protocol: 'saml'; settings: SamlSettings };

/** Which claim or attribute holds what; by default the protocol's usual names. */
export type Attributes = { email?: string; username?: string; name?: string; groups?: string; language?: string };

/** An identity provider that a customer trusts to identify people. */
export type SsoConnection = {
  id: string;
  key: string;
  /** As people see it if there is a choice. */
  name: string;
  customerId: string;
  customerKey: string;
  /** Switched on, and so is its customer. */
  active: boolean;
  /** Its domains can't sign in by password. */
  required: boolean;
  makesUsers: boolean;
  /** Its email addresses count as verified even if it does not say so. */
  trustsEmail: boolean;
  /** Values of acr, amr or AuthnContextClassRef that mean a second factor. */
  secondFactorValues: string[];
  attributes: Attributes;
  domains: string[];
  /** The client secret, sealed for `connectionPlace`. */
  sealedSecret: Buffer | null;
  secretEndsAt: Date | null;
  /** CIDR; networks besides the public ones in which its provider may be. */
  providerNetworks: string[];
  createdAt: Date;
  /** Raised by every change: a visit that began before it is refused. */
  version: number;
} & ProtocolSettings;

export type OidcConnection = Extract<SsoConnection, { protocol: 'oidc' }>;
export type SamlConnection = Extract<SsoConnection, { protocol: 'saml' }>;

/**
 * The provider of a connection; another one makes it another connection for its users and browsers. A subject is unique
 * only within it (OpenID Connect Core §2, SAML core §8.3.7).
 */
export function providerOf({ protocol, settings }: SsoConnection): string {
  return protocol === 'oidc' ? settings.issuer : settings.entityId;
}

/** What is stored of a new one, without its domains. */
export type NewSsoConnection = Omit<SsoConnection, 'id' | 'active' | 'customerKey' | 'createdAt' | 'version'> & {
  id: string;
};

/** Absent means unchanged. */
export type SsoConnectionChanges = Partial<
  Omit<NewSsoConnection, 'id' | 'key' | 'customerId' | 'protocol' | 'domains'>
> & { active?: boolean };

/** Binding (additional data) for the secret of a connection. */
export function connectionPlace(id: string): string {
  return `sso-connection:${id}`;
}

const connections = (sql: Connection) => sql`
  select s.id, s.key, s.name, s.customer_id as "customerId", c.key as "customerKey", s.protocol, s.active and c.active as active,
  s.required, s.makes_users as "makesUsers", s.trusts_email as "trustsEmail",
  s.second_factor_values as "secondFactorValues", s.attributes, s.settings, s.sealed_secret as "sealedSecret",
  s.secret_ends_at as "secretEndsAt",
  s.provider_networks::text[] as "providerNetworks", s.created_at as "createdAt",
  s.version,
  array(select domain from sso_domain d where d.connection_id = s.id order by domain) as domains
  from sso_connection s join customer c on c.id = s.customer_id`;

/** Adds a connection; false if the key is taken. */
export async function insertSsoConnection(sql: Connection, made: NewSsoConnection, now: Date): Promise<boolean> {
  const rows = await sql`
    insert into sso_connection (id, key, name, customer_id, protocol, required, makes_users, trusts_email,
      second_factor_values, attributes, settings, sealed_secret, secret_ends_at, provider_networks, created_at)
    values (${made.id}, ${made.key}, ${made.name}, ${made.customerId}, ${made.protocol}, ${made.required},
      ${made.makesUsers}, ${made.trustsEmail}, ${made.secondFactorValues}::text[], ${JSON.stringify(made.attributes)},
      ${JSON.stringify(made.settings)}, ${made.sealedSecret}, ${made.secretEndsAt}, ${made.providerNetworks}::text[]::cidr[], ${now})
    on conflict (key) do nothing returning id`;
  if (rows.length > 0) await updateSsoDomains(sql, made.id, made.domains);
  return rows.length > 0;
}

/** Makes a connection vouch for exactly these domains. */
export async function updateSsoDomains(sql: Connection, id: string, domains: readonly string[]): Promise<void> {
  const wanted = domains as string[];
  await sql`delete from sso_domain where connection_id = ${id} and domain <> all(${wanted}::text[])`;
  await sql`
    insert into sso_domain (domain, connection_id) select domain, ${id} from unnest(${wanted}::text[]) as given (domain)
    on conflict do nothing`;
}

export async function updateSsoConnection(sql: Connection, id: string, changes: SsoConnectionChanges): Promise<void> {
  const { attributes, settings, sealedSecret, secretEndsAt } = changes;
  await sql`
    update sso_connection set version = version + 1,
      name = coalesce(${changes.name ?? null}, name),
      active = coalesce(${changes.active ?? null}, active),
      required = coalesce(${changes.required ?? null}, required),
      makes_users = coalesce(${changes.makesUsers ?? null}, makes_users),
      trusts_email = coalesce(${changes.trustsEmail ?? null}, trusts_email),
      second_factor_values = coalesce(${changes.secondFactorValues ?? null}::text[], second_factor_values),
      attributes = coalesce(${attributes ? JSON.stringify(attributes) : null}::jsonb, attributes),
      settings = coalesce(${settings ? JSON.stringify(settings) : null}::jsonb, settings),
      sealed_secret = case when ${sealedSecret !== undefined} then ${sealedSecret ?? null}::bytea else sealed_secret end,
      secret_ends_at = case when ${secretEndsAt !== undefined} then ${secretEndsAt ?? null}::timestamptz else secret_ends_at end,
      provider_networks = coalesce(${changes.providerNetworks ?? null}::text[]::cidr[], provider_networks)
    where id = ${id}`;
}

export async function findSsoConnection(sql: Connection, id: string) {
  return await rowOrNull(sql<SsoConnection[]>`${connections(sql)} where s.id = ${id}`);
}

export async function findSsoConnectionByKey(sql: Connection, key: string) {
  return await rowOrNull(sql<SsoConnection[]>`${connections(sql)} where s.key = ${key}`);
}

/** The connection, locked until the transaction ends. */
export async function findSsoConnectionByKeyForUpdate(sql: Connection, key: string) {
  return await rowOrNull(sql<SsoConnection[]>`${connections(sql)} where s.key = ${key} for update of s`);
}

/** All connections by key. */
export async function listSsoConnections(sql: Connection): Promise<SsoConnection[]> {
  return await sql<SsoConnection[]>`${connections(sql)} order by s.key`;
}

/** The connections of customers, by name. */
export async function listSsoConnectionsOfCustomers(sql: Connection, ids: readonly string[]): Promise<SsoConnection[]> {
  return await sql<SsoConnection[]>`${connections(sql)} where s.customer_id = any(${ids}) order by s.name, s.key`;
}

/** The connections that vouch for a domain, by key, including disabled ones. */
export async function listSsoConnectionsOfDomain(sql: Connection, domain: string): Promise<SsoConnection[]> {
  return await sql<SsoConnection[]>`
    ${connections(sql)} where s.id in (select connection_id from sso_domain where domain = ${domain}) order by s.key`;
}
