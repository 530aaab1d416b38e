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
import { openConversation } from '../../http/provider-fetch.ts';
import { publicAddress, redirectUri } from '../addresses.ts';
import { type CheckStep, checkStep, wordsOf } from '../check-step.ts';
import { providerWords } from '../provider-words.ts';
import type { OidcConnection } from '../sso-connection.ts';
import { clientAuthentication, wayOfSecret } from './client-authentication.ts';
import { oidcClient } from './provider.ts';
import { oidcRefusal } from './refusal.ts';
import { authorizationUrl, newOidcKept } from './start.ts';

export type CheckDeps = Pick<Deps, 'sql' | 'keys' | 'config' | 'now'>;

/** A connection to be tested, and what its provider publishes. */
export type Trial = { deps: CheckDeps; connection: OidcConnection; metadata: ServerMetadata };

const known = 'the provider knows the client id and the redirect URI';

/** The errors that mean everything works, but nobody is signed in there (OpenID Connect Core §3.1.2.6). */
const needsPerson = ['login_required', 'interaction_required', 'consent_required', 'account_selection_required'];

/** Whether the provider knows the portal, and whether it accepts how the portal authenticates. */
export async function checkClient(trial: Trial, authentication: ClientAuth): Promise<CheckStep[]> {
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
  const way = settings.clientAuthentication === 'privateKey' ? 'key' : wayOfSecret(settings, metadata);
  if (kind === 'accepted') return step(true, `${words}, by ${methods[way]}`);
  if (kind !== 'refused') return step(kind === 'unknown', words);
  if (way === 'key')
    return step(false, `the provider must know the keys at ${publicAddress(deps.config, 'oidcKeys')}: ${words}`);
  const other = way === 'basic' ? 'post' : 'basic';
  if (await isAcceptedBy(trial, other)) {
    const option = `vestibule connection set ${connection.key} --client-auth ${other}`;
    return step(false, `the secret is right, but the provider expects it by ${methods[other]}: ${option}`);
  }
  return step(false, `${isClientKnown ? '' : '--client-id or '}--client-secret-stdin: ${words}`);
}

/** A provider may expect another method from us than it announces, or than the first it announces. */
async function isAcceptedBy(trial: Trial, way: 'basic' | 'post'): Promise<boolean> {
  const { deps, connection, metadata } = trial;
  const settings = { ...connection.settings, clientAuthentication: way };
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
