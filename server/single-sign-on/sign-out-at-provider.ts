import { screenUrl } from '#contract/screens.ts';
import type { Deps } from '../deps.ts';
import { unseal } from '../secrets/sealed.ts';
import { type EndedSession, idTokenPlace } from '../storage/session.ts';
import { findSsoConnection } from '../storage/sso-connection.ts';
import { oidcLogoutUrl } from './oidc/oidc-logout.ts';

/**
 * Where to sign out at the provider that a session came from, or null where there is nothing to do: it came by password,
 * its second factor was still open, or the provider has no such address.
 */
export async function signOutAtProvider(
  deps: Deps,
  { connectionId, sealedIdToken, stage, userId }: EndedSession,
): Promise<{ url: string; provider: string } | null> {
  if (connectionId === null || stage !== 'full') return null;
  const connection = await findSsoConnection(deps.sql, connectionId);
  if (connection?.protocol !== 'oidc') return null;
  const idToken = sealedIdToken && unseal(deps.keys.seal, sealedIdToken, idTokenPlace(userId));
  const returnTo = deps.config.publicUrl.origin + screenUrl(deps.config.basePath, 'login');
  const url = await oidcLogoutUrl(deps, connection, { idToken, returnTo });
  return url === null ? null : { url, provider: connection.name };
}
