import {
  authorizationCodeGrant,
  type Configuration,
  fetchUserInfo,
  type IDToken,
  randomNonce,
  randomPKCECodeVerifier,
  type ServerMetadata,
} from 'openid-client';
import type { Deps } from '../../deps/deps.ts';
import type { Conversation } from '../../deps/provider-memory.ts';
import type { OidcConnection } from '../../storage/sso-connection.ts';
import { redirectUri } from '../addresses.ts';
import { type ProviderAnswer, type Refusal, refusalFor } from '../identity.ts';
import { ProviderFailure } from '../provider-failure.ts';
import { providerWords } from '../provider-words.ts';
import type { OidcKept } from '../request-details.ts';
import { afreshParameters } from './afresh-parameters.ts';
import { authorizationUrl } from './authorization-url.ts';
import { clientAuthentication, oidcClient } from './client.ts';
import { wrongInIdToken } from './id-token-checks.ts';
import { emailClaim, oidcIdentity } from './identity.ts';
import { oidcRefusal, unreachable } from './refusal.ts';

/** The provider's address to send a visitor to. */
export async function startOidc(
  deps: Deps,
  connection: OidcConnection,
  visit: { state: string; loginHint: string | null; language: string; isAfresh?: boolean },
): Promise<{ kind: 'ok'; url: string; kept: OidcKept } | Refusal> {
  const conversation = deps.providers.open(connection.providerNetworks);
  const discovery = await discoveryOf(deps, connection, conversation);
  if (discovery.kind === 'refused') return discovery;
  const kept = {
    nonce: randomNonce(),
    verifier: randomPKCECodeVerifier(),
    redirectUri: redirectUri(deps.config, connection),
  };
  const client = oidcClient(deps, connection, discovery.metadata, { conversation });
  const url = await authorizationUrl(connection, client, {
    state: visit.state,
    kept,
    more: {
      ui_locales: visit.language,
      ...(visit.loginHint !== null && { login_hint: visit.loginHint }),
      ...(visit.isAfresh ? afreshParameters(discovery.metadata) : maxAge(connection.settings)),
    },
  });
  return { kind: 'ok', url: url.href, kept };
}

/** Reads the full address that the provider redirected the visitor to. */
export async function readOidcAnswer(
  deps: Deps,
  connection: OidcConnection,
  answer: { url: URL; state: string; kept: OidcKept },
): Promise<ProviderAnswer> {
  const { settings, attributes } = connection;
  // A provider could redirect a visitor to another connection's address, to get the code of that connection's provider
  // (RFC 9700 §4.4).
  const expected = answer.kept.redirectUri;
  const cameTo = answer.url.origin + answer.url.pathname;
  if (cameTo !== expected) {
    const words = providerWords(`the answer came to ${answer.url.pathname}, and is expected at ${expected}`);
    return refusalFor('answer-invalid', words);
  }
  // RFC 9207 §2.4, announced or not. The library treats an empty one as missing.
  if (answer.url.searchParams.getAll('iss').some((iss) => iss !== settings.issuer)) {
    return refusalFor('answer-invalid', 'the iss parameter is not the issuer of the connection');
  }
  const conversation = deps.providers.open(connection.providerNetworks);
  const discovery = await discoveryOf(deps, connection, conversation);
  if (discovery.kind === 'refused') return discovery;
  const { metadata } = discovery;
  const proof = await clientAuthentication(deps, connection, metadata);
  if (proof.kind === 'refused') return proof;
  const client = oidcClient(deps, connection, metadata, { conversation, authentication: proof.authentication });
  try {
    const { idToken, accessToken, claims } = await tokensOf(client, answer);
    const wrong = wrongInIdToken(claims, {
      idToken,
      accessToken,
      code: answer.url.searchParams.get('code') ?? '',
      state: answer.state,
      clientId: settings.clientId,
      now: deps.now(),
    });
    if (wrong !== null) return refusalFor('answer-invalid', wrong);
    const isEmailElsewhere = !(emailClaim(attributes) in claims) && metadata.userinfo_endpoint !== undefined;
    const userInfo = isEmailElsewhere ? await fetchUserInfo(client, accessToken, claims.sub) : null;
    return { kind: 'ok', identity: oidcIdentity({ idToken, claims, userInfo }, attributes) };
  } catch (error) {
    return oidcRefusal(error);
  }
}

/**
 * This makes the provider authenticate the person again in time, and report when it did (OpenID Connect Core §3.1.2.1).
 */
function maxAge({ maxAuthenticationAge: most }: OidcConnection['settings']): Record<string, string> {
  return most === undefined || most === null ? {} : { max_age: String(most) };
}

/** Redeems the code at the token endpoint; the library verifies the address, the ID token and its signature. */
async function tokensOf(
  client: Configuration,
  { url, state, kept }: { url: URL; state: string; kept: OidcKept },
): Promise<{ idToken: string; accessToken: string; claims: IDToken }> {
  const tokens = await authorizationCodeGrant(client, url, {
    expectedState: state,
    expectedNonce: kept.nonce,
    pkceCodeVerifier: kept.verifier,
    idTokenExpected: true,
  });
  return { idToken: tokens.id_token as string, accessToken: tokens.access_token, claims: tokens.claims() as IDToken };
}

async function discoveryOf(
  { providers }: Deps,
  { settings }: OidcConnection,
  conversation: Conversation,
): Promise<{ kind: 'ok'; metadata: ServerMetadata } | Refusal> {
  try {
    return { kind: 'ok', metadata: await providers.discovery(settings.issuer, conversation) };
  } catch (error) {
    if (error instanceof ProviderFailure) return unreachable(error);
    throw error;
  }
}
