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
import type { Deps } from '../deps.ts';
import { type Conversation, openConversation, ProviderFailure } from '../http/provider-fetch.ts';
import { publicAddress, redirectUri } from './addresses.ts';
import { oidcRefusal } from './oidc/callback-route.ts';
import { clientAuthentication, methodOfSecret } from './oidc/client-authentication.ts';
import { authorizationUrl, idTokenAlgorithms, newOidcKept, oidcClient, providerKeys } from './oidc/provider.ts';
import { readDiscovery } from './oidc/read-discovery.ts';
import { providerWords, said } from './provider-answer.ts';
import { certificateState, publishedDifferences } from './saml/provider-metadata.ts';
import type { OidcConnection, SamlConnection, SamlSettings, SsoConnection } from './sso-connection.ts';

/**
 * Tests as much of a connection as possible without a person. What cannot be determined is not a failure. Throws if the
 * portal's own keys cannot be opened.
 */
export async function checkConnection(
  deps: CheckDeps,
  connection: SsoConnection,
  conversation = openConversation(connection.providerNetworks),
): Promise<CheckStep[]> {
  return connection.protocol === 'oidc'
    ? await checkOidc(deps, connection)
    : await checkSaml(connection, deps.now(), conversation);
}

async function checkOidc(deps: CheckDeps, connection: OidcConnection): Promise<CheckStep[]> {
  const { issuer } = connection.settings;
  let metadata: ServerMetadata;
  try {
    metadata = await readDiscovery(issuer, connection.providerNetworks);
  } catch (error) {
    return [checkStep('discovery', false, `--issuer: ${wordsOf(error)}`)];
  }
  const trial = { deps, connection, metadata };
  return [
    checkStep('discovery', true, issuer.startsWith('https:') ? `${issuer} answers, all by https` : `${issuer} answers`),
    await keys(trial),
    ...(await client(trial)),
  ];
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

/** Whether the provider knows the portal, and whether it accepts how the portal authenticates. */
async function client(trial: Trial): Promise<CheckStep[]> {
  try {
    const authentication = await clientAuthentication(trial.deps, trial.connection, trial.metadata);
    return [await checkAuthorization(trial), await checkAuthentication(trial, authentication)];
  } catch (error) {
    return [checkStep('client authentication', false, `--client-secret-stdin: ${wordsOf(error)}`)];
  }
}

type CheckDeps = Pick<Deps, 'sql' | 'keys' | 'config' | 'now'>;

type Trial = { deps: CheckDeps; connection: OidcConnection; metadata: ServerMetadata };

/** The errors that mean everything works, but nobody is signed in there (OpenID Connect Core §3.1.2.6). */
const needsPerson = ['login_required', 'interaction_required', 'consent_required', 'account_selection_required'];

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
  const { clientId } = connection.settings;
  const step = (ok: boolean, words: string) => checkStep('sign-in request', ok, words);
  try {
    const { look } = openConversation(connection.providerNetworks);
    const answer = await look(url.href, { headers: { accept: 'text/html' } });
    const target = URL.parse(answer.headers.get('location') ?? '', url.origin);
    const query = target?.searchParams;
    const error = query?.get('error') ?? null;
    const isOurs = target?.href.startsWith(kept.redirectUri);
    if (isOurs && (error === null || needsPerson.includes(error)))
      return step(true, 'the provider knows the client id and the redirect URI');
    const words = `the provider answers ${providerWords(`${error ?? answer.status} (${query?.get('error_description') ?? 'no description'})`)}`;
    if (isOurs) return step(false, `--client-id ${clientId} or --scope: ${words}`);
    // Entra ID shows its errors with status 200.
    const isError =
      answer.status >= 400 || /error/i.test(target?.href ?? '') || (await answer.text()).includes('AADSTS');
    if (isError)
      return step(false, `--client-id ${clientId} or redirect URI ${kept.redirectUri} is unknown there: ${words}`);
    return step(true, 'the provider shows a page; only a person can see there whether it knows the client');
  } catch (error) {
    return step(false, wordsOf(error));
  }
}

const methods = { basic: 'client_secret_basic', post: 'client_secret_post', key: 'private_key_jwt' } as const;

/**
 * Whether the provider accepts our client authentication. Sends the token endpoint an invented code: an accepted client is
 * told that the code is wrong (RFC 6749 §5.2).
 */
async function checkAuthentication(
  { deps, connection, metadata }: Trial,
  authentication: ClientAuth,
): Promise<CheckStep> {
  const { settings } = connection;
  const step = (ok: boolean, words: string) => checkStep('token request', ok, words);
  const kept = newOidcKept(redirectUri(deps.config, connection));
  const callback = new URL(kept.redirectUri);
  callback.search = new URLSearchParams({ code: 'made-up', state: 'trial', iss: settings.issuer }).toString();
  try {
    await authorizationCodeGrant(oidcClient(deps, connection, metadata, authentication), callback, {
      expectedState: 'trial',
      expectedNonce: kept.nonce,
      pkceCodeVerifier: kept.verifier,
    });
    return step(false, 'the provider accepted an invented code');
  } catch (error) {
    const { words } = oidcRefusal(error);
    const code = error instanceof ResponseBodyError ? error.error : null;
    const method = settings.clientAuthentication === 'privateKey' ? 'key' : methodOfSecret(settings, metadata);
    if (code === 'invalid_grant')
      return step(true, `the provider accepts our client authentication, by ${methods[method]}`);
    if (code !== 'invalid_client' && !(error instanceof WWWAuthenticateChallengeError))
      return step(code === 'invalid_request', `could not be determined: ${words}`);
    if (method === 'key')
      return step(false, `the provider must know the keys at ${publicAddress(deps.config, 'oidcKeys')}: ${words}`);
    // Some providers expect another method than the first that they announce.
    return step(false, `--client-id, --client-secret-stdin or --client-auth: ${words}`);
  }
}

/** One check, in words for the operator. They name the flag of `connection set` that is wrong. */
export type CheckStep = { step: string; ok: boolean; words: string };

function checkStep(step: string, ok: boolean, words: string): CheckStep {
  return { step, ok, words };
}

/** Of the provider's failure; others are thrown on. */
function wordsOf(error: unknown): string {
  if (error instanceof ProviderFailure) return error.message;
  throw error;
}

async function checkSaml({ settings }: SamlConnection, now: Date, conversation: Conversation): Promise<CheckStep[]> {
  const states = settings.certificates.map((pem) => certificateState(pem, now));
  return [
    ...states.map(({ ok, words }, index) => ({ step: `certificate ${index + 1}`, ok, words })),
    ...(states.some(({ counts }) => counts)
      ? []
      : [{ step: 'certificates', ok: false, words: 'none is valid now: nobody can sign in' }]),
    await signOnCheck(settings, conversation),
    ...(settings.metadataUrl === null ? [] : await metadataChecks(settings, now, conversation)),
  ];
}

/** Checks only that it answers: the page for a visit without a request says nothing about one with a request. */
async function signOnCheck({ signOnUrl }: SamlSettings, { look }: Conversation): Promise<CheckStep> {
  const step = 'sign-on address';
  try {
    const { status } = await look(signOnUrl);
    return { step, ok: status < 500, words: `it answers with status ${status}` };
  } catch (error) {
    return { step, ok: false, words: `${said(signOnUrl)}: ${wordsOf(error)}` };
  }
}

async function metadataChecks(settings: SamlSettings, now: Date, { read }: Conversation): Promise<CheckStep[]> {
  const step = 'metadata';
  const found = await publishedDifferences(settings, read, now);
  if (found.kind === 'refused') return [{ step, ok: false, words: found.problem }];
  if (found.differences.length === 0) return [{ step, ok: true, words: 'they match the settings' }];
  return found.differences.map((words) => ({ step, ok: false, words }));
}
