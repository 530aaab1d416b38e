import type { Config } from '../config/config.ts';
import { redirectUri } from '../single-sign-on/addresses.ts';
import type { SsoConnection } from '../storage/sso-connection.ts';

/** A connection as JSON shows it: without its sealed secret. */
export function publicView(stored: SsoConnection, config: Config) {
  const { sealedSecret, id: _, customerId: __, ...connection } = stored;
  const address = stored.protocol === 'oidc' ? { redirectUri: redirectUri(config, stored) } : {};
  return { ...connection, hasSecret: sealedSecret !== null, ...address };
}
