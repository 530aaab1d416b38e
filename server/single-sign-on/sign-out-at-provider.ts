import { screenUrl } from '#contract/screens.ts';
import { isProviderAddress } from '../config/public-url.ts';
import { unseal } from '../crypto/keys.ts';
import type { Deps } from '../deps.ts';
import type { DeletedSession } from '../sessions/end-sessions.ts';
import { idTokenPlace } from '../sessions/session.ts';
import { portalKeys } from './portal-keys.ts';
import type { SamlName } from './provider-answer.ts';
import { type Carried, carryMessage, logoutRequestXml, newMessageId } from './saml/messages.ts';
import { findSsoConnection, type OidcConnection, type SamlConnection } from './sso-connection.ts';

/**
 * Where the browser signs out at the provider of a session that has ended here, by a form if there are fields. Null if there
 * is nothing to do: it came by password, its second factor was still open, or the provider has no such address.
 */
export async function signOutAtProvider(
  deps: Deps,
  { connectionId, sealedIdToken, stage, userId }: DeletedSession,
): Promise<(Carried & { provider: string }) | null> {
  if (connectionId === null || stage !== 'full') return null;
  const connection = await findSsoConnection(deps.sql, connectionId);
  if (!connection) return null;
  const proof = sealedIdToken && unseal(deps.keys.seal, sealedIdToken, idTokenPlace(userId));
  const carried =
    connection.protocol === 'saml'
      ? await samlLogout(deps, connection, proof === null ? null : (JSON.parse(proof) as SamlName))
      : await oidcLogout(deps, connection, proof);
  return carried && { ...carried, provider: connection.name };
}

/**
 * Asks the provider to end its session for a person (SAML profiles §4.4.3.1). Nothing is kept: its answer only decides
 * what the next page says.
 */
async function samlLogout(deps: Deps, { settings }: SamlConnection, name: SamlName | null): Promise<Carried | null> {
  const { logout } = settings;
  if (!name || !logout || !isProviderAddress(logout.url)) return null;
  const { url: to, binding } = logout;
  const xml = logoutRequestXml({ config: deps.config, id: newMessageId(), destination: to, now: deps.now(), name });
  const [key] = await portalKeys(deps);
  return carryMessage({ field: 'SAMLRequest', xml, to, binding, relayState: null }, key);
}

/** A longer hint makes an address that servers refuse; without it the provider asks the person. */
const longestHint = 4096;

/** OpenID Connect RP-Initiated Logout §2; null if the provider has no address for it or does not answer. */
export async function oidcLogout(
  deps: Deps,
  connection: OidcConnection,
  idToken: string | null,
): Promise<Carried | null> {
  const [{ buildEndSessionUrl }, { oidcProvider }] = await Promise.all([
    import('openid-client'),
    import('./oidc/provider.ts'),
  ]);
  const provider = await oidcProvider(deps, connection);
  if (provider.kind === 'refused') return null;
  const { client } = provider;
  if (client.serverMetadata().end_session_endpoint === undefined) return null;
  const url = buildEndSessionUrl(client, {
    post_logout_redirect_uri: deps.config.publicUrl.origin + screenUrl(deps.config.basePath, 'login'),
    ...(idToken !== null && idToken.length <= longestHint && { id_token_hint: idToken }),
  });
  return { url: url.href, fields: null };
}
