import { randomBytes } from 'node:crypto';
import type { Config } from '../../config/config.ts';
import type { SamlSettings } from '../../storage/sso-settings.ts';
import type { PortalKey } from '../portal-keys.ts';
import { samlLibrary } from './library.ts';

/** SAML core §1.3.4 requires at least 128 random bits; an ID must not begin with a digit. */
const idBytes = 20;

/** The fields of a form that posts a request; null if the address contains all of it. */
export type RequestFields = { SAMLRequest: string; RelayState: string };

/**
 * A request for authentication, signed by the portal's key, in the address that the browser opens at the provider (SAML
 * bindings §3.4.4.1), or in fields of a form that it posts there (§3.5.4). How the person is named and authenticated is
 * up to the provider; `isAfresh` makes it authenticate a person again who is signed in there.
 */
export async function samlRequest(
  config: Config,
  settings: SamlSettings,
  { key, state, isAfresh = false }: { key: PortalKey; state: string; isAfresh?: boolean },
): Promise<{ id: string; url: string; fields: RequestFields | null }> {
  const id = `_${randomBytes(idBytes).toString('hex')}`;
  const library = await samlLibrary(config, settings, {
    privateKey: key.privateKey,
    generateUniqueId: () => id,
    forceAuthn: isAfresh,
    skipRequestCompression: settings.signOnBinding === 'post',
  });
  if (settings.signOnBinding === 'post') {
    const { SAMLRequest } = await library.getAuthorizeMessageAsync(state);
    return { id, url: settings.signOnUrl, fields: { SAMLRequest: String(SAMLRequest), RelayState: state } };
  }
  return { id, fields: null, url: await library.getAuthorizeUrlAsync(state, undefined, {}) };
}
