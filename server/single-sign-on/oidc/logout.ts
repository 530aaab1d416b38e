import { buildEndSessionUrl } from 'openid-client';
import type { Deps } from '../../deps/deps.ts';
import type { OidcConnection } from '../../storage/sso-connection.ts';
import { ProviderFailure } from '../provider-failure.ts';
import { oidcClient } from './client.ts';

/** A longer hint makes an address that servers refuse; without it the provider asks the person. */
const longestHint = 4096;

/**
 * Where a provider ends its own session (OpenID Connect RP-Initiated Logout §2), or null if it has no such address or
 * does not answer quickly.
 */
export async function oidcLogoutUrl(
  deps: Deps,
  connection: OidcConnection,
  { idToken, returnTo }: { idToken: string | null; returnTo: string },
): Promise<string | null> {
  const conversation = deps.providers.openBriefly(connection.providerNetworks);
  try {
    const metadata = await deps.providers.discovery(connection.settings.issuer, conversation);
    if (metadata.end_session_endpoint === undefined) return null;
    const url = buildEndSessionUrl(oidcClient(deps, connection, metadata, { conversation }), {
      post_logout_redirect_uri: returnTo,
      ...(idToken !== null && idToken.length <= longestHint && { id_token_hint: idToken }),
    });
    return url.href;
  } catch (error) {
    if (error instanceof ProviderFailure) return null;
    throw error;
  }
}
