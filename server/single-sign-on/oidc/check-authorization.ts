import { randomNonce, randomPKCECodeVerifier, randomState } from 'openid-client';
import { type CheckStep, checkStep, wordsOf } from '../check-step.ts';
import { providerWords } from '../provider-words.ts';
import { authorizationUrl } from './authorization-url.ts';
import { oidcClient } from './client.ts';
import type { Trial } from './trial.ts';

const name = 'sign-in request';
const known = 'the provider knows the client id and the redirect URI';

/** The errors that mean everything works, but nobody is signed in there (OpenID Connect Core §3.1.2.6). */
const needsPerson = ['login_required', 'interaction_required', 'consent_required', 'account_selection_required'];

/**
 * Begins a sign-in that must not show a page (prompt=none). A provider that knows the client and the redirect URI
 * redirects there with an error; otherwise it shows an error page (RFC 6749 §4.1.2.1), which is made for people.
 */
export async function checkAuthorization(trial: Trial): Promise<CheckStep & { isClientKnown: boolean }> {
  const step = await authorizationStep(trial);
  return { ...step, isClientKnown: step.words === known };
}

async function authorizationStep(trial: Trial): Promise<CheckStep> {
  const { deps, connection, metadata, conversation, redirectUri } = trial;
  const url = await authorizationUrl(connection, oidcClient(deps, connection, metadata, { conversation }), {
    state: randomState(),
    kept: { nonce: randomNonce(), verifier: randomPKCECodeVerifier(), redirectUri },
    more: { prompt: 'none' },
  });
  try {
    const answer = await conversation.look(url.href, { headers: { accept: 'text/html' } });
    const location = answer.headers.get('location');
    const target = location === null ? null : URL.parse(location, url);
    if (target && target.origin + target.pathname === redirectUri) return sentBack(target.searchParams, connection);
    const isError = answer.status >= 400 || (target !== null && /error/i.test(target.href));
    return shown(isError, `${target?.href ?? ''} ${await answer.text()}`, { redirectUri, connection });
  } catch (error) {
    return checkStep(name, false, wordsOf(error));
  }
}

function sentBack(query: URLSearchParams, { settings }: Trial['connection']): CheckStep {
  const error = query.get('error');
  if (error === null || needsPerson.includes(error)) {
    return checkStep(name, true, known);
  }
  const words = providerWords(`${error} (${query.get('error_description') ?? 'no description'})`);
  if (error === 'invalid_scope')
    return checkStep(name, false, `--scope: the provider refuses ${settings.scopes}: ${words}`);
  if (error === 'unauthorized_client')
    return checkStep(name, false, `--client-id: it may not ask for a code: ${words}`);
  return checkStep(name, false, `the provider answers ${words}`);
}

const ofRedirectUri = /redirect[ _-]?ur[il]|callback[ _-]?ur[il]|reply url|AADSTS50011/i;
const ofClient =
  /invalid[ _-]client|unknown[ _-]client|client[^.<]{0,60}(?:not|unknown|invalid|disabled)|AADSTS700016/i;

/** The text people would read. A page without an error is a sign-in page, which proves nothing. */
function shown(
  isError: boolean,
  page: string,
  { redirectUri, connection }: { redirectUri: string; connection: Trial['connection'] },
): CheckStep {
  if (!isError && !page.includes('AADSTS')) {
    return checkStep(name, true, 'the provider shows a page; only a person can see there whether it knows the client');
  }
  if (ofRedirectUri.test(page)) {
    return checkStep(name, false, `redirect URI: the provider does not know it; register ${redirectUri} there`);
  }
  const { clientId } = connection.settings;
  if (ofClient.test(page)) return checkStep(name, false, `--client-id: the provider does not know ${clientId}`);
  return checkStep(
    name,
    false,
    `the provider refuses; look at --client-id (${clientId}) and the redirect URI ${redirectUri}`,
  );
}
