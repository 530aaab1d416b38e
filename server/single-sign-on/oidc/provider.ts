import { createRemoteJWKSet, customFetch as customKeysFetch } from 'jose';
import {
  allowInsecureRequests,
  buildAuthorizationUrl,
  type ClientAuth,
  Configuration,
  calculatePKCECodeChallenge,
  clockSkew,
  clockTolerance,
  customFetch,
  enableNonRepudiationChecks,
  randomNonce,
  randomPKCECodeVerifier,
  type ServerMetadata,
} from 'openid-client';
import type { Deps, OidcProvider } from '../../deps.ts';
import { openConversation, ProviderFailure } from '../../http/provider-fetch.ts';
import { limits } from '../../limits.ts';
import { redirectUri } from '../addresses.ts';
import type { OidcKept } from '../claim-visit.ts';
import { type Refusal, refusalOf } from '../provider-answer.ts';
import type { OidcConnection } from '../sso-connection.ts';
import { clientAuthentication } from './client-authentication.ts';
import { readDiscovery } from './read-discovery.ts';

/** Signatures that only the provider can make: neither none, nor those by a shared secret (HS256 and the like). */
export const idTokenAlgorithms = [
  ...(['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'] as const),
  ...(['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'] as const),
];

/** The list for operators, who choose one of them at the provider. */
export const acceptedAlgorithms = `accepted are ${idTokenAlgorithms.join(', ')}`;

/** The provider of a connection, as it was read within the last minutes; who comes meanwhile waits for the same reading. */
export async function oidcProvider(
  deps: Deps,
  connection: OidcConnection,
): Promise<({ kind: 'ok' } & OidcProvider) | Refusal> {
  const { providers, now } = deps;
  const { id, version } = connection;
  const known = providers.get(id);
  const isCurrent = known !== undefined && known.version === version && now() < known.until;
  const provider = isCurrent ? known.provider : readProvider(deps, connection);
  if (!isCurrent) {
    const until = new Date(now().getTime() + limits.providerRemembered);
    providers.set(id, { version, until, provider });
  }
  try {
    return { kind: 'ok', ...(await provider) };
  } catch (error) {
    if (providers.get(id)?.provider === provider) providers.delete(id);
    if (error instanceof ProviderFailure) return refusalOf(error);
    throw error;
  }
}

async function readProvider(deps: Deps, connection: OidcConnection): Promise<OidcProvider> {
  const metadata = await readDiscovery(connection.settings.issuer, connection.providerNetworks);
  const authentication = await clientAuthentication(deps, connection, metadata);
  return { client: oidcClient(deps, connection, metadata, authentication), keys: providerKeys(connection, metadata) };
}

/**
 * The library's client. The signature of each ID token is verified (by default TLS is enough, as OpenID Connect Core
 * §3.1.3.7 no. 6 allows), and our clock is used.
 */
export function oidcClient(
  { now }: Pick<Deps, 'now'>,
  { settings, providerNetworks }: OidcConnection,
  metadata: ServerMetadata,
  authentication: ClientAuth,
): Configuration {
  const skew = Math.floor(now().getTime() / 1000) - Math.floor(Date.now() / 1000);
  const client = new Configuration(
    withOurAlgorithms(metadata),
    settings.clientId,
    { [clockSkew]: skew, [clockTolerance]: limits.providerClock / 1000 },
    authentication,
  );
  client.timeout = undefined;
  const { ask } = openConversation(providerNetworks);
  client[customFetch] = async (url, request) => await withoutEmptyMembers(await ask(url, request));
  enableNonRepudiationChecks(client);
  // For a provider on this machine; the requests refuse http elsewhere.
  allowInsecureRequests(client);
  return client;
}

/**
 * An answer in JSON as the library wants it, which refuses a `refresh_token: null` that nobody asked for: null and "" count as
 * absent, and so does the scope, which we do not read. What is signed stays as it is.
 */
async function withoutEmptyMembers(answer: Response): Promise<Response> {
  let text = await answer.text();
  try {
    const read = JSON.parse(text, (name, value) => {
      if (value === null || value === '' || name === 'scope') return undefined;
      return Array.isArray(value) ? value.filter((one) => one !== undefined) : value;
    });
    text = JSON.stringify(read);
  } catch {
    // The library says what is wrong with it.
  }
  return new Response(text || null, answer);
}

/** Only our list counts (RFC 8725 §3.1): the announced ones may be older than the signing key, or missing. */
function withOurAlgorithms(metadata: ServerMetadata): ServerMetadata {
  return {
    ...metadata,
    id_token_signing_alg_values_supported: [...idTokenAlgorithms],
    userinfo_signing_alg_values_supported: [...idTokenAlgorithms],
  };
}

/** The keys of logout tokens, which openid-client does not read. */
export function providerKeys({ providerNetworks }: OidcConnection, { jwks_uri = '' }: ServerMetadata) {
  const { read } = openConversation(providerNetworks);
  return createRemoteJWKSet(new URL(jwks_uri), {
    [customKeysFetch]: (url, { headers }) => read(url, { headers: Object.fromEntries(headers) }),
  });
}

/** The provider's address to send a visitor to. */
export async function startOidc(
  deps: Deps,
  connection: OidcConnection,
  visit: { state: string; loginHint: string | null; language: string; freshSignIn?: boolean },
): Promise<{ kind: 'ok'; url: string; fields: null; kept: OidcKept } | Refusal> {
  const provider = await oidcProvider(deps, connection);
  if (provider.kind === 'refused') return provider;
  const { client } = provider;
  const kept = newOidcKept(redirectUri(deps.config, connection));
  const url = await authorizationUrl(connection, client, {
    state: visit.state,
    kept,
    more: {
      ui_locales: visit.language,
      ...(visit.loginHint !== null && { login_hint: visit.loginHint }),
      ...(visit.freshSignIn && freshSignInParameters(client.serverMetadata())),
    },
  });
  return { kind: 'ok', url: url.href, fields: null, kept };
}

export function newOidcKept(redirectUri: string): OidcKept {
  return { nonce: randomNonce(), verifier: randomPKCECodeVerifier(), redirectUri };
}

/** The address where a visit begins (OpenID Connect Core §3.1.2.1, RFC 7636): the same for visitors and trials. */
export async function authorizationUrl(
  { settings }: OidcConnection,
  client: Configuration,
  { state, kept, more }: { state: string; kept: OidcKept; more: Record<string, string> },
): Promise<URL> {
  return buildAuthorizationUrl(client, {
    redirect_uri: kept.redirectUri,
    scope: [...new Set(['openid', ...settings.scopes])].join(' '),
    state,
    nonce: kept.nonce,
    code_challenge: await calculatePKCECodeChallenge(kept.verifier),
    code_challenge_method: 'S256',
    ...more,
  });
}

/**
 * The parameters that make a provider authenticate the person again (OpenID Connect Core §3.1.2.1). Google doesn't support
 * `prompt=login` and answers it with an error page; a provider's own list takes precedence.
 */
export function freshSignInParameters({
  issuer,
  prompt_values_supported: known,
}: ServerMetadata): Record<string, string> {
  const usual = issuer === 'https://accounts.google.com' ? 'select_account' : 'login';
  const prompts = Array.isArray(known) ? known : [usual];
  if (prompts.includes('login')) return { max_age: '0', prompt: 'login' };
  return prompts.includes('select_account') ? { prompt: 'select_account' } : { max_age: '0' };
}
