import { screenUrl } from '#contract/screens.ts';
import type { Deps } from '../deps/deps.ts';
import { unseal } from '../secrets/sealed.ts';
import type { DeletedSession } from '../storage/end-sessions.ts';
import { idTokenPlace } from '../storage/session.ts';
import { findSsoConnection } from '../storage/sso-connection.ts';
import type { SamlName } from './identity.ts';
import { oidcLogoutUrl } from './oidc/logout.ts';
import { beginSamlLogout } from './saml/logout.ts';

/** Where a browser signs out at a provider, by a form if there are fields, and the token it has to keep. */
export type WayOut = {
  url: string;
  provider: string;
  fields?: Record<string, string>;
  browserToken: string | null;
};

/**
 * Where to sign out at the provider of a session, or null if there is nothing to do: it came by password, its second
 * factor was still open, or the provider has no such address.
 */
export async function signOutAtProvider(
  deps: Deps,
  { connectionId, sealedIdToken, stage, userId }: DeletedSession,
): Promise<WayOut | null> {
  if (connectionId === null || stage !== 'full') return null;
  const connection = await findSsoConnection(deps.sql, connectionId);
  if (!connection) return null;
  const { name: provider } = connection;
  const proof = sealedIdToken && unseal(deps.keys.seal, sealedIdToken, idTokenPlace(userId));
  if (connection.protocol === 'saml') {
    const name = proof === null ? null : (JSON.parse(proof) as SamlName);
    const begun = name && (await beginSamlLogout(deps, connection, name));
    return (
      begun && {
        provider,
        url: begun.url,
        browserToken: begun.browserToken,
        ...(begun.fields && { fields: begun.fields }),
      }
    );
  }
  const returnTo = deps.config.publicUrl.origin + screenUrl(deps.config.basePath, 'login');
  const url = await oidcLogoutUrl(deps, connection, { idToken: proof, returnTo });
  return url === null ? null : { url, provider, browserToken: null };
}
