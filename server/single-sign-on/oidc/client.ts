import {
  allowInsecureRequests,
  type ClientAuth,
  ClientSecretPost,
  Configuration,
  clockSkew,
  clockTolerance,
  customFetch,
  enableNonRepudiationChecks,
  type ServerMetadata,
} from 'openid-client';
import type { Deps } from '../../deps/deps.ts';
import type { Conversation } from '../../deps/provider-memory.ts';
import { limits } from '../../limits.ts';
import { unseal } from '../../secrets/sealed.ts';
import { connectionPlace, type OidcConnection } from '../../storage/sso-connection.ts';
import type { OidcSettings } from '../../storage/sso-settings.ts';
import { type Refusal, refusalFor } from '../identity.ts';
import { portalKeys } from '../portal-keys.ts';
import { clientAssertion } from './client-assertion.ts';
import { clientSecretBasic } from './client-secret-basic.ts';
import { idTokenAlgorithms } from './id-token-algorithms.ts';
import { mayHaveSigned } from './may-have-signed.ts';

export type ClientDeps = Pick<Deps, 'sql' | 'keys' | 'config' | 'now' | 'providers'>;

/**
 * The library's client for one conversation. All requests go through `conversation`; the signature of each ID token is
 * verified (by default TLS is enough, as OpenID Connect Core §3.1.3.7 no. 6 allows), and our clock is used.
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
  // For a provider on this machine; the conversation refuses http elsewhere.
  allowInsecureRequests(client);
  return client;
}

/** How far our clock is ahead of the library's, in seconds. */
function skew(now: Date): number {
  return Math.floor(now.getTime() / 1000) - Math.floor(Date.now() / 1000);
}

/** Only our list counts (RFC 8725 §3.1): the announced ones may be older than the signing key, or missing. */
function withOurAlgorithms(metadata: ServerMetadata): ServerMetadata {
  return {
    ...metadata,
    id_token_signing_alg_values_supported: [...idTokenAlgorithms],
    userinfo_signing_alg_values_supported: [...idTokenAlgorithms],
  };
}

/**
 * The library requests the keys for each client, without knowing which one it needs. It is answered from memory, which
 * refreshes if none of its keys made the signature.
 */
function fetchByMemory(
  { providers }: Pick<Deps, 'providers'>,
  metadata: ServerMetadata,
  conversation: Conversation,
): Conversation['ask'] {
  const keysAddress = new URL(metadata.jwks_uri ?? '').href;
  let idToken: string | undefined;
  return async (url, request) => {
    if (url === keysAddress) {
      return Response.json(await providers.keys(keysAddress, (keySet) => mayHaveSigned(keySet, idToken), conversation));
    }
    const answer = await conversation.ask(url, request);
    idToken ??= idTokenOf(await answer.clone().text());
    return answer;
  };
}

function idTokenOf(body: string): string | undefined {
  try {
    const { id_token } = JSON.parse(body);
    return typeof id_token === 'string' ? id_token : undefined;
  } catch {
    return undefined;
  }
}

/** How the portal authenticates at the token endpoint (OpenID Connect Core §9). */
export async function clientAuthentication(
  deps: Omit<ClientDeps, 'providers'>,
  { id, settings, sealedSecret }: Pick<OidcConnection, 'id' | 'settings' | 'sealedSecret'>,
  metadata: ServerMetadata,
): Promise<{ kind: 'ok'; authentication: ClientAuth } | Refusal> {
  if (settings.clientAuthentication === 'privateKey') {
    const [key] = await portalKeys(deps);
    return { kind: 'ok', authentication: await clientAssertion(key, metadata) };
  }
  const secret = sealedSecret && unseal(deps.keys.seal, sealedSecret, connectionPlace(id));
  if (!secret) {
    const words = sealedSecret
      ? 'the client secret cannot be opened: VESTIBULE_SECRET lacks the secret that sealed it'
      : 'the connection has no client secret';
    return refusalFor('connection-broken', words);
  }
  const authenticate = wayOfSecret(settings, metadata) === 'basic' ? clientSecretBasic : ClientSecretPost;
  return { kind: 'ok', authentication: authenticate(secret) };
}

/**
 * How to send a secret: as the operator says, otherwise as announced; by default in the header (OpenID Connect
 * Discovery §3).
 */
export function wayOfSecret({ clientAuthentication }: OidcSettings, metadata: ServerMetadata): 'basic' | 'post' {
  if (clientAuthentication === 'basic' || clientAuthentication === 'post') return clientAuthentication;
  const offered = metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  return offered.includes('client_secret_basic') ? 'basic' : 'post';
}
