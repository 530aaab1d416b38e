import type { RouteHandlerMethod } from 'fastify';
import type { Deps } from '../../deps/deps.ts';
import { portalKeys } from '../portal-keys.ts';
import { samlMetadata } from './metadata.ts';

/** `GET authenticate/saml/metadata`: read repeatedly by providers, so that they learn of a key before it signs. */
export function samlMetadataRoute(deps: Deps): RouteHandlerMethod {
  return async function samlMetadataAnswer(_request, reply) {
    return reply.type('application/samlmetadata+xml').send(samlMetadata(deps.config, await portalKeys(deps)));
  };
}
