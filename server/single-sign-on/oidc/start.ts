import {
  buildAuthorizationUrl,
  type Configuration,
  calculatePKCECodeChallenge,
  randomNonce,
  randomPKCECodeVerifier,
  type ServerMetadata,
} from 'openid-client';
import type { Deps } from '../../deps.ts';
import { redirectUri } from '../addresses.ts';
import type { OidcKept } from '../claim-visit.ts';
import type { Refusal } from '../provider-answer.ts';
import type { OidcConnection } from '../sso-connection.ts';
import { oidcProvider } from './provider.ts';

/** The provider's address to send a visitor to. */
export async function startOidc(
  deps: Deps,
  connection: OidcConnection,
  visit: { state: string; loginHint: string | null; language: string; freshSignIn?: boolean },
): Promise<{ kind: 'ok'; url: string; kept: OidcKept } | Refusal> {
  const provider = await oidcProvider(deps, connection);
  if (provider.kind === 'refused') return provider;
  const { client } = provider;
  const kept = newOidcKept(redirectUri(deps.config, connection));
  const { maxAuthenticationAge: most = null } = connection.settings;
  const url = await authorizationUrl(connection, client, {
    state: visit.state,
    kept,
    more: {
      ui_locales: visit.language,
      ...(visit.loginHint !== null && { login_hint: visit.loginHint }),
      // This makes the provider authenticate the person again in time, and report when it did.
      ...(visit.freshSignIn
        ? freshSignInParameters(client.serverMetadata())
        : most !== null && { max_age: String(most) }),
    },
  });
  return { kind: 'ok', url: url.href, kept };
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
