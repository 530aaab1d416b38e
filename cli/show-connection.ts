import type { Config } from '#server/config/config.ts';
import type { Database } from '#server/database/database.ts';
import { entityId, publicAddress, redirectUri } from '#server/single-sign-on/addresses.ts';
import { findSsoConnectionByKey, type SsoConnection } from '#server/single-sign-on/sso-connection.ts';
import { failure } from './failure.ts';

/** The connection with a key. Throws a failure if there is none. */
export async function existingConnection(sql: Database, key: string): Promise<SsoConnection> {
  const found = await findSsoConnectionByKey(sql, key);
  if (!found) throw failure(`There is no connection ${key}.`);
  return found;
}

/** A connection as JSON shows it: without its sealed secret. */
export function publicView(stored: SsoConnection, config: Config) {
  const { sealedSecret, id: _, customerId: __, ...connection } = stored;
  const address = stored.protocol === 'oidc' ? redirectUri(config, stored) : null;
  return { ...connection, hasSecret: sealedSecret !== null, ...(address && { redirectUri: address }) };
}

/** The values for the provider's own forms. */
export function whatTheProviderNeeds(config: Config, connection: SsoConnection): [string, string][] {
  const { key, protocol } = connection;
  if (protocol === 'oidc')
    return [
      ['  Redirect URI', redirectUri(config, connection)],
      ['  Sign-out redirect URI', `${config.publicUrl.origin}${config.basePath}/login`],
      ['  Back-channel logout, if supported', `${publicAddress(config, 'oidcBackchannelLogout')}/${key}`],
      ['  JWKS, with private-key', publicAddress(config, 'oidcKeys')],
    ];
  return [
    ['  Metadata', publicAddress(config, 'samlMetadata')],
    ['  Entity ID', entityId(config)],
    ['  Reply address (ACS), by POST', publicAddress(config, 'samlAnswer')],
    ['  Single logout', publicAddress(config, 'samlLogout')],
  ];
}
