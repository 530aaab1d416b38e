import { randomBytes } from 'node:crypto';
import type { Config } from '../../config.ts';
import type { PortalKey } from '../portal-keys.ts';
import type { SamlSettings } from '../settings.ts';
import { samlLibrary } from './saml-library.ts';

/** SAML core §1.3.4 asks for 128 random bits at least; an ID must not begin with a digit. */
const idBytes = 20;

/** The fields of a form that brings a request to its address; null where the address itself has all of it. */
export type RequestFields = { SAMLRequest: string; RelayState: string };

/**
 * A request for authentication, signed by the portal's key, in the address that a browser takes it to the provider by
 * (SAML bindings §3.4.4.1), or in the fields of a form that it posts there (§3.5.4). It leaves to the provider how a person
 * is named and asked; `isAfresh` has it ask once more whoever is signed in there already.
 */
export async function samlRequest(
  config: Config,
  settings: SamlSettings,
  { key, state, isAfresh = false }: { key: PortalKey; state: string; isAfresh?: boolean },
): Promise<{ id: string; url: string; fields: RequestFields | null }> {
  const id = `_${randomBytes(idBytes).toString('hex')}`;
  const library = samlLibrary(config, settings, {
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
