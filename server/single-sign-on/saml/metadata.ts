import type { RouteHandlerMethod } from 'fastify';
import type { Config } from '../../config/config.ts';
import type { Deps } from '../../deps.ts';
import { entityId, publicAddress } from '../addresses.ts';
import { type PortalKey, portalKeys } from '../portal-keys.ts';
import { escapedXml } from './messages.ts';
import { algorithms, bindings, namespaces } from './xml.ts';

/** `GET authenticate/saml/metadata`: read repeatedly by providers, so that they learn of a key before it signs. */
export function samlMetadataRoute(deps: Deps): RouteHandlerMethod {
  return async function samlMetadataAnswer(_request, reply) {
    return reply.type('application/samlmetadata+xml').send(samlMetadata(deps.config, await portalKeys(deps)));
  };
}

/**
 * What providers need to know of the portal (SAML metadata §2.4.4): where answers and sign-outs go, that it signs what
 * it sends, that assertions must be signed, and its keys. The current key is first, for providers that read only one.
 */
export function samlMetadata(config: Config, keys: readonly PortalKey[]): string {
  const key =
    (use: string, inside = '') =>
    (portalKey: PortalKey) =>
      `    <KeyDescriptor use="${use}">
      <ds:KeyInfo><ds:X509Data><ds:X509Certificate>${base64Of(portalKey)}</ds:X509Certificate></ds:X509Data></ds:KeyInfo>${inside}
    </KeyDescriptor>
`;
  const methods = [...algorithms.gcm, algorithms.rsaOaep].map(
    (name) => `\n      <EncryptionMethod Algorithm="${name}"/>`,
  );
  const logoutServices = [bindings.redirect, bindings.post]
    .map(
      (binding) =>
        `    <SingleLogoutService Binding="${binding}" Location="${escapedXml(publicAddress(config, 'samlLogout'))}"/>\n`,
    )
    .join('');
  return `<?xml version="1.0" encoding="UTF-8"?>
<EntityDescriptor xmlns="${namespaces.metadata}" xmlns:ds="${namespaces.signature}" entityID="${escapedXml(entityId(config))}">
  <SPSSODescriptor AuthnRequestsSigned="true" WantAssertionsSigned="true" protocolSupportEnumeration="${namespaces.protocol}">
${keys.map(key('signing')).join('')}${keys.map(key('encryption', methods.join(''))).join('')}${logoutServices}    <AssertionConsumerService index="0" isDefault="true" Binding="${bindings.post}" Location="${escapedXml(publicAddress(config, 'samlAnswer'))}"/>
  </SPSSODescriptor>
</EntityDescriptor>
`;
}

function base64Of({ certificate }: PortalKey): string {
  return certificate.replace(/-----[A-Z ]+-----|\s/g, '');
}
