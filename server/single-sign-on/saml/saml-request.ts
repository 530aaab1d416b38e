import { randomBytes } from 'node:crypto';
import type { Config } from '../../config.ts';
import type { PortalKey } from '../portal-keys.ts';
import type { SamlSettings } from '../settings.ts';
import { samlLibrary } from './saml-library.ts';

/** SAML core §1.3.4 asks for 128 random bits at least; an ID must not begin with a digit. */
const idBytes = 20;

/**
 * A request for authentication, signed by the portal's key, in the address that a browser takes it to the provider by
 * (SAML bindings §3.4.4.1). It leaves to the provider how a person is named and asked; `isAfresh` has it ask once more
 * whoever is signed in there already.
 */
export async function samlRequest(
  config: Config,
  settings: SamlSettings,
  { key, state, isAfresh = false }: { key: PortalKey; state: string; isAfresh?: boolean },
): Promise<{ id: string; url: string }> {
  const id = `_${randomBytes(idBytes).toString('hex')}`;
  const library = samlLibrary(config, settings, {
    privateKey: key.privateKey,
    generateUniqueId: () => id,
    forceAuthn: isAfresh,
  });
  return { id, url: await library.getAuthorizeUrlAsync(state, undefined, {}) };
}
