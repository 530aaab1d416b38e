import { decodeProtectedHeader, importPKCS8 } from 'jose';
import {
  allowInsecureRequests,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  clockSkew,
  clockTolerance,
  customFetch,
  enableNonRepudiationChecks,
  PrivateKeyJwt,
  type ServerMetadata,
} from 'openid-client';
import type { Deps } from '../../deps.ts';
import { limits } from '../../limits.ts';
import { unseal } from '../../secrets/sealed.ts';
import { connectionPlace, type OidcConnection } from '../../storage/sso-connection.ts';
import type { Refusal } from '../identity.ts';
import { portalKeys } from '../portal-keys.ts';
import type { Conversation } from '../provider-fetch.ts';
import { portalKeyAlgorithm, publicJwk } from './oidc-keys.ts';

export type ClientDeps = Pick<Deps, 'sql' | 'keys' | 'config' | 'now' | 'providers'>;

/** Signatures that only the provider can make: neither none, nor those by a secret that we know as well. */
export const idTokenAlgorithms = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];

/**
 * The library's client for one conversation. It asks through `conversation` alone, checks the signature of each ID token
 * (by itself it takes TLS for proof, as OpenID Connect Core §3.1.3.7 no. 6 allows), and goes by our clock.
 */
export function oidcClient(
  deps: Pick<Deps, 'now' | 'providers'>,
  { settings }: Pick<OidcConnection, 'settings'>,
  metadata: ServerMetadata,
  { conversation, authentication }: { conversation: Conversation; authentication?: ClientAuth },
): Configuration {
  const client = new Configuration(
    withOurAlgorithms(metadata),
    settings.clientId,
    { [clockSkew]: skew(deps.now()), [clockTolerance]: limits.providerClock / 1000 },
    authentication,
  );
  client.timeout = undefined;
  client[customFetch] = fetchByMemory(deps, metadata, conversation);
  enableNonRepudiationChecks(client);
  // For a provider on this very machine; the conversation refuses http elsewhere.
  allowInsecureRequests(client);
  return client;
}

/** How far our clock is ahead of the one that the library looks at, in seconds. */
function skew(now: Date): number {
  return Math.floor(now.getTime() / 1000) - Math.floor(Date.now() / 1000);
}

function withOurAlgorithms(metadata: ServerMetadata): ServerMetadata {
  const ours = (announced = idTokenAlgorithms) => idTokenAlgorithms.filter((one) => announced.includes(one));
  return {
    ...metadata,
    id_token_signing_alg_values_supported: ours(metadata.id_token_signing_alg_values_supported),
    userinfo_signing_alg_values_supported: ours(metadata.userinfo_signing_alg_values_supported),
  };
}

/**
 * The library asks for the keys by itself, for each client anew and without knowing which one it will need. It is
 * answered from memory, which looks again for a key that it does not know.
 */
function fetchByMemory(
  { providers }: Pick<Deps, 'providers'>,
  metadata: ServerMetadata,
  conversation: Conversation,
): Conversation['ask'] {
  const keysAddress = new URL(metadata.jwks_uri ?? '').href;
  let wantedKey: string | undefined;
  return async (url, request) => {
    if (url === keysAddress) return Response.json(await providers.keys(keysAddress, wantedKey, conversation));
    const answer = await conversation.ask(url, request);
    wantedKey ??= keyOfIdToken(await answer.clone().text());
    return answer;
  };
}

/** Which key the ID token in an answer names; whether it may be believed is found out with that key. */
function keyOfIdToken(body: string): string | undefined {
  try {
    return decodeProtectedHeader(JSON.parse(body).id_token).kid;
  } catch {
    return undefined;
  }
}

/** How the portal proves at the token endpoint who it is (OpenID Connect Core §9). */
export async function clientAuthentication(
  deps: Omit<ClientDeps, 'providers'>,
  { id, settings, sealedSecret }: Pick<OidcConnection, 'id' | 'settings' | 'sealedSecret'>,
  metadata: ServerMetadata,
): Promise<{ ok: true; authentication: ClientAuth } | Refusal> {
  if (settings.clientAuthentication === 'privateKey') {
    const [key] = await portalKeys(deps);
    const { kid = '' } = await publicJwk(key);
    const privateKey = await importPKCS8(key.privateKey, portalKeyAlgorithm);
    return { ok: true, authentication: PrivateKeyJwt({ key: privateKey, kid }) };
  }
  const secret = sealedSecret && unseal(deps.keys.seal, sealedSecret, connectionPlace(id));
  if (!secret) {
    const words = sealedSecret
      ? 'the client secret cannot be opened: VESTIBULE_SECRET lacks the secret that sealed it'
      : 'the connection has no client secret';
    return { ok: false, reason: 'connection-broken', words };
  }
  // OpenID Connect Discovery §3: where nothing is announced it is client_secret_basic.
  const offered = metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  const authenticate = offered.includes('client_secret_basic') ? ClientSecretBasic : ClientSecretPost;
  return { ok: true, authentication: authenticate(secret) };
}
