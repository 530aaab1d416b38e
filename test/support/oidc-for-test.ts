import { randomBytes, randomUUID } from 'node:crypto';
import { seal } from '#server/crypto/sealed.ts';
import type { Deps } from '#server/deps.ts';
import type { ProviderAnswer } from '#server/single-sign-on/identity.ts';
import { readOidcAnswer } from '#server/single-sign-on/oidc/redeem.ts';
import { startOidc } from '#server/single-sign-on/oidc/start.ts';
import { connectionPlace, type OidcConnection } from '#server/single-sign-on/sso-connection.ts';
import type { OidcSettings } from '#server/single-sign-on/sso-settings.ts';
import type { OidcKept } from '#server/single-sign-on/visit-details.ts';
import type { ForgedProvider } from '../providers/forged-openid-provider.ts';

type Provider = Pick<ForgedProvider, 'issuer' | 'clientId' | 'clientSecret'>;

/** A connection as stored. */
export function oidcConnection(
  { keys, now }: Deps,
  { issuer, clientId, clientSecret }: Provider,
  { settings, ...more }: Partial<Omit<OidcConnection, 'settings'>> & { settings?: Partial<OidcSettings> } = {},
): OidcConnection {
  const id = randomUUID();
  return {
    id,
    key: 'customer',
    name: 'Customer',
    customerId: randomUUID(),
    customerKey: 'customer',
    active: true,
    required: false,
    makesUsers: false,
    trustsEmail: false,
    secondFactorValues: [],
    attributes: {},
    domains: ['customer.example'],
    sealedSecret: seal(keys.seal, clientSecret, connectionPlace(id)),
    secretEndsAt: null,
    providerNetworks: ['127.0.0.0/8', '::1/128'],
    createdAt: now(),
    version: 1,
    protocol: 'oidc',
    settings: { issuer, clientId, clientAuthentication: 'secret', scopes: ['email', 'profile'], ...settings },
    ...more,
  };
}

/** A visitor at the provider: where the portal redirected them, and what it keeps of that. */
export type Visit = { url: string; state: string; kept: OidcKept };

export async function startVisit(deps: Deps, connection: OidcConnection): Promise<Visit> {
  const state = randomBytes(16).toString('base64url');
  const started = await startOidc(deps, connection, { state, loginHint: null, language: 'en' });
  if (started.kind === 'refused') throw new Error(`${started.reason}: ${started.words}`);
  return { ...started, state };
}

/** One visit from the portal to the provider and back. */
export async function visitProvider(
  deps: Deps,
  connection: OidcConnection,
  provider: Pick<ForgedProvider, 'visit'>,
): Promise<ProviderAnswer> {
  const { url, state, kept } = await startVisit(deps, connection);
  return await readOidcAnswer(deps, connection, { url: provider.visit(url), state, kept });
}
