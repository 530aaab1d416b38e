import { randomBytes } from 'node:crypto';
import type { Deps } from '../../deps/deps.ts';
import { limits } from '../../limits.ts';
import { newToken, tokenHash } from '../../secrets/token.ts';
import { insertSentSamlLogout } from '../../storage/saml-logout.ts';
import { listSsoConnections, type SamlConnection } from '../../storage/sso-connection.ts';
import type { SamlName } from '../identity.ts';
import { portalKeys } from '../portal-keys.ts';
import { isProviderAddress } from '../provider-fetch.ts';
import { type Carried, carryMessage } from './carry-message.ts';
import { ownerOfLogoutAddress } from './foreign-logout-address.ts';
import { logoutRequestXml } from './logout-messages.ts';

/**
 * Asks the provider to end its session for a person (SAML profiles §4.4.3.1): returns where the browser goes with the
 * signed request, and a new token for it to show with the answer. Null if the provider has no single logout.
 */
export async function beginSamlLogout(
  deps: Deps,
  connection: SamlConnection,
  name: SamlName,
): Promise<(Carried & { browserToken: string }) | null> {
  const { config, sql } = deps;
  const { id: connectionId } = connection;
  const { logout } = connection.settings;
  if (!logout || !isProviderAddress(logout.url)) return null;
  if (ownerOfLogoutAddress(connection, await listSsoConnections(sql)) !== null) return null;
  const [key] = await portalKeys(deps);
  const id = newMessageId();
  const now = deps.now();
  const token = newToken();
  await insertSentSamlLogout(sql, {
    requestHash: tokenHash(id),
    connectionId,
    browserHash: tokenHash(token),
    endsAt: new Date(now.getTime() + limits.ssoRequest),
  });
  const xml = logoutRequestXml({ config, id, destination: logout.url, now, name });
  const { url: to, binding } = logout;
  // Without RelayState: InResponseTo names the request, and is signed in either binding.
  return {
    ...(await carryMessage({ field: 'SAMLRequest', xml, to, binding, relayState: null }, key)),
    browserToken: token,
  };
}

/** SAML core §1.3.4: at least 128 random bits, and no leading digit. */
export function newMessageId(): string {
  return `_${randomBytes(20).toString('hex')}`;
}
