import type { Config } from '../config/config.ts';
import { ownRedirectUri } from '../single-sign-on/addresses.ts';
import type { SsoConnection } from '../storage/sso-connection.ts';

/** A connection as JSON shows it: without its sealed secret. */
export function publicView(stored: SsoConnection, config: Config) {
  const { sealedSecret, id: _, customerId: __, ...connection } = stored;
  const redirectUri = stored.protocol === 'oidc' ? ownRedirectUri(config, stored) : null;
  return { ...connection, hasSecret: sealedSecret !== null, ...(redirectUri && { redirectUri }) };
}
