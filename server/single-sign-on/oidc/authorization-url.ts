import { buildAuthorizationUrl, type Configuration, calculatePKCECodeChallenge } from 'openid-client';
import type { OidcConnection } from '../../storage/sso-connection.ts';
import type { OidcKept } from '../request-details.ts';

/** The address where a visit begins (OpenID Connect Core §3.1.2.1, RFC 7636): the same for visitors and trials. */
export async function authorizationUrl(
  { settings }: Pick<OidcConnection, 'settings'>,
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
