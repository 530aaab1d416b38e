import type { JWK } from 'jose';
import {
  authorizationCodeGrant,
  type ClientAuth,
  None,
  ResponseBodyError,
  randomState,
  type ServerMetadata,
  WWWAuthenticateChallengeError,
} from 'openid-client';
import type { Deps } from '../../deps.ts';
import { openConversation, ProviderFailure } from '../../http/provider-fetch.ts';
import { publicAddress, redirectUri } from '../addresses.ts';
import { providerWords } from '../provider-answer.ts';
import type { ClientAuthentication, OidcConnection } from '../sso-connection.ts';
import { clientAuthentication, methodOfSecret } from './client-authentication.ts';
import { acceptedAlgorithms, idTokenAlgorithms, oidcClient, providerKeys } from './provider.ts';
import { readDiscovery } from './read-discovery.ts';
import { oidcRefusal } from './refusal.ts';
import { authorizationUrl, newOidcKept } from './start.ts';

/**
 * Tests as much of a connection as possible without a person. What cannot be determined is not a failure. Throws if the
 * portal's own keys cannot be opened.
 */
export async function checkOidc(deps: CheckDeps, connection: OidcConnection): Promise<CheckStep[]> {
  const { issuer } = connection.settings;
  let metadata: ServerMetadata;
  try {
    metadata = await readDiscovery(issuer, connection.providerNetworks);
  } catch (error) {
    return [checkStep('discovery', false, `--issuer: ${wordsOf(error)}`)];
  }
  const trial = { deps, connection, metadata };
  return [
    checkStep('discovery', true, `${issuer} answers, and its endpoints are https`),
    responseType(metadata),
    pkce(metadata),
    ...algorithms(metadata),
    await keys(trial),
    ...(await client(trial)),
  ];
}

function responseType({ response_types_supported: offered = ['code'] }: ServerMetadata): CheckStep {
  if (offered.includes('code')) return checkStep('response type', true, 'the provider offers the authorization code');
  return checkStep('response type', false, 'the provider does not offer response_type code');
}

/** Some providers verify it without announcing it. */
function pkce(metadata: ServerMetadata): CheckStep {
  const isAnnounced = metadata.code_challenge_methods_supported?.includes('S256') === true;
  return checkStep('PKCE', true, isAnnounced ? 'the provider announces S256' : 'not announced; it is sent anyway');
}

/** Empty if they are as usual. */
function algorithms({ id_token_signing_alg_values_supported: announced }: ServerMetadata): CheckStep[] {
  if (!announced || announced.some((one) => idTokenAlgorithms.some((ours) => ours === one))) return [];
  const words = `the provider announces only ${announced.join(', ')}; ${acceptedAlgorithms}: choose one of these there`;
  return [checkStep('signature', false, words)];
}

async function keys({ connection, metadata }: Trial): Promise<CheckStep> {
  const published = providerKeys(connection, metadata);
  try {
    await published.reload();
  } catch (error) {
    return checkStep('keys', false, wordsOf(error));
  }
  const all = published.jwks()?.keys ?? [];
  const usable = all.filter(isUsable).length;
  if (usable > 0) return checkStep('keys', true, `${usable} of ${all.length} can check signatures`);
  return checkStep('keys', false, `none of the ${all.length} keys at ${metadata.jwks_uri} can check signatures`);
}

function isUsable({ kty, use, alg }: JWK): boolean {
  const isAsymmetric = kty === 'RSA' || kty === 'EC' || kty === 'OKP';
  return isAsymmetric && use !== 'enc' && (alg === undefined || idTokenAlgorithms.some((one) => one === alg));
}

/** What the provider offers, whether it knows us, and whether it accepts our proof. */
async function client(trial: Trial): Promise<CheckStep[]> {
  const { deps, connection, metadata } = trial;
  let authentication: ClientAuth;
  try {
    authentication = await clientAuthentication(deps, connection, metadata);
  } catch (error) {
    return [checkStep('client authentication', false, `--client-secret-stdin: ${wordsOf(error)}`)];
  }
  return [offered(trial), ...(await checkClient(trial, authentication))];
}

const methodsOf: Record<ClientAuthentication, string[]> = {
  secret: ['client_secret_basic', 'client_secret_post'],
  basic: ['client_secret_basic'],
  post: ['client_secret_post'],
  privateKey: ['private_key_jwt'],
};

function offered({ connection, metadata }: Trial): CheckStep {
  const methods = metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  const ours = methodsOf[connection.settings.clientAuthentication];
  const both = ours.filter((method) => methods.includes(method));
  const words = both.length > 0 ? both.join(',') : `${methods.join(', ')}, but not ${ours.join(' or ')}`;
  return checkStep('client authentication', both.length > 0, `the provider offers ${words}`);
}

export type CheckDeps = Pick<Deps, 'sql' | 'keys' | 'config' | 'now'>;

/** A connection to be tested, and what its provider publishes. */
type Trial = { deps: CheckDeps; connection: OidcConnection; metadata: ServerMetadata };

const known = 'the provider knows the client id and the redirect URI';

/** The errors that mean everything works, but nobody is signed in there (OpenID Connect Core §3.1.2.6). */
const needsPerson = ['login_required', 'interaction_required', 'consent_required', 'account_selection_required'];

/** Whether the provider knows the portal, and whether it accepts how the portal authenticates. */
async function checkClient(trial: Trial, authentication: ClientAuth): Promise<CheckStep[]> {
  const authorization = await checkAuthorization(trial);
  return [authorization, await checkAuthentication(trial, authentication, authorization.words === known)];
}

/**
 * Begins a sign-in that must not show a page (prompt=none). A provider that knows the client and the redirect URI
 * redirects there with an error; otherwise it shows an error page (RFC 6749 §4.1.2.1), which is made for people.
 */
async function checkAuthorization({ deps, connection, metadata }: Trial): Promise<CheckStep> {
  const kept = newOidcKept(redirectUri(deps.config, connection));
  const url = await authorizationUrl(connection, oidcClient(deps, connection, metadata, None()), {
    state: randomState(),
    kept,
    more: { prompt: 'none' },
  });
  try {
    const { look } = openConversation(connection.providerNetworks);
    const answer = await look(url.href, { headers: { accept: 'text/html' } });
    const location = answer.headers.get('location');
    const target = location === null ? null : URL.parse(location, url);
    if (target && target.origin + target.pathname === kept.redirectUri)
      return sentBack(target.searchParams, connection);
    const isError = answer.status >= 400 || (target !== null && /error/i.test(target.href));
    return shown(isError, `${target?.href ?? ''} ${await answer.text()}`, kept.redirectUri, connection);
  } catch (error) {
    return signInRequest(false, wordsOf(error));
  }
}

function signInRequest(ok: boolean, words: string): CheckStep {
  return checkStep('sign-in request', ok, words);
}

function sentBack(query: URLSearchParams, { settings }: OidcConnection): CheckStep {
  const error = query.get('error');
  if (error === null || needsPerson.includes(error)) return signInRequest(true, known);
  const words = providerWords(`${error} (${query.get('error_description') ?? 'no description'})`);
  if (error === 'invalid_scope')
    return signInRequest(false, `--scope: the provider refuses ${settings.scopes}: ${words}`);
  if (error === 'unauthorized_client') return signInRequest(false, `--client-id: it may not ask for a code: ${words}`);
  return signInRequest(false, `the provider answers ${words}`);
}

const ofRedirectUri = /redirect[ _-]?ur[il]|callback[ _-]?ur[il]|reply url|AADSTS50011/i;
const ofClient =
  /invalid[ _-]client|unknown[ _-]client|client[^.<]{0,60}(?:not|unknown|invalid|disabled)|AADSTS700016/i;

/** The text people would read. A page without an error is a sign-in page, which proves nothing. */
function shown(isError: boolean, page: string, uri: string, { settings: { clientId } }: OidcConnection): CheckStep {
  if (!isError && !page.includes('AADSTS'))
    return signInRequest(true, 'the provider shows a page; only a person can see there whether it knows the client');
  if (ofRedirectUri.test(page))
    return signInRequest(false, `redirect URI: the provider does not know it; register ${uri} there`);
  if (ofClient.test(page)) return signInRequest(false, `--client-id: the provider does not know ${clientId}`);
  return signInRequest(false, `the provider refuses; look at --client-id (${clientId}) and the redirect URI ${uri}`);
}

const methods = { basic: 'client_secret_basic', post: 'client_secret_post', key: 'private_key_jwt' } as const;

/** Whether the provider accepts our client authentication, and if not, what is wrong. */
async function checkAuthentication(
  trial: Trial,
  authentication: ClientAuth,
  isClientKnown: boolean,
): Promise<CheckStep> {
  const { deps, connection, metadata } = trial;
  const { settings } = connection;
  const step = (ok: boolean, words: string) => checkStep('token request', ok, words);
  const { kind, words } = await verdictOn(trial, authentication);
  const method = settings.clientAuthentication === 'privateKey' ? 'key' : methodOfSecret(settings, metadata);
  if (kind === 'accepted') return step(true, `${words}, by ${methods[method]}`);
  if (kind !== 'refused') return step(kind === 'unknown', words);
  if (method === 'key')
    return step(false, `the provider must know the keys at ${publicAddress(deps.config, 'oidcKeys')}: ${words}`);
  const other = method === 'basic' ? 'post' : 'basic';
  if (await isAcceptedBy(trial, other)) {
    const option = `vestibule connection set ${connection.key} --client-auth ${other}`;
    return step(false, `the secret is right, but the provider expects it by ${methods[other]}: ${option}`);
  }
  return step(false, `${isClientKnown ? '' : '--client-id or '}--client-secret-stdin: ${words}`);
}

/** A provider may expect another method from us than it announces, or than the first it announces. */
async function isAcceptedBy(trial: Trial, method: 'basic' | 'post'): Promise<boolean> {
  const { deps, connection, metadata } = trial;
  const settings = { ...connection.settings, clientAuthentication: method };
  const authentication = await clientAuthentication(deps, { ...connection, settings }, metadata);
  return (await verdictOn(trial, authentication)).kind === 'accepted';
}

type Verdict = { kind: 'accepted' | 'refused' | 'unknown' | 'faulty'; words: string };

/** Sends the token endpoint an invented code: an accepted client is told that the code is wrong (RFC 6749 §5.2). */
async function verdictOn({ deps, connection, metadata }: Trial, authentication: ClientAuth): Promise<Verdict> {
  const client = oidcClient(deps, connection, metadata, authentication);
  const kept = newOidcKept(redirectUri(deps.config, connection));
  const callback = new URL(kept.redirectUri);
  const { issuer } = connection.settings;
  callback.search = new URLSearchParams({ code: 'made-up-for-a-trial', state: 'trial', iss: issuer }).toString();
  try {
    await authorizationCodeGrant(client, callback, {
      expectedState: 'trial',
      expectedNonce: kept.nonce,
      pkceCodeVerifier: kept.verifier,
    });
    return { kind: 'faulty', words: 'the provider accepted an invented code' };
  } catch (error) {
    const { words } = oidcRefusal(error);
    const code = error instanceof ResponseBodyError ? error.error : null;
    if (code === 'invalid_grant') return { kind: 'accepted', words: 'the provider accepts our client authentication' };
    const isRefused = code === 'invalid_client' || error instanceof WWWAuthenticateChallengeError;
    if (isRefused) return { kind: 'refused', words };
    return { kind: code === 'invalid_request' ? 'unknown' : 'faulty', words: `could not be determined: ${words}` };
  }
}

/** One check, in words for the operator. They name the flag of `connection set` that is wrong. */
export type CheckStep = { step: string; ok: boolean; words: string };

function checkStep(step: string, ok: boolean, words: string): CheckStep {
  return { step, ok, words };
}

/** Why the provider did not answer; rethrows errors that are not the provider's. */
export function wordsOf(error: unknown): string {
  if (error instanceof ProviderFailure) return error.message;
  throw error;
}
