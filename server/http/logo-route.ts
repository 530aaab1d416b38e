import type { FastifyReply, FastifyRequest } from 'fastify';
import { logoPolicy } from '../config/brand.ts';
import type { Deps } from '../deps.ts';

const assetLifetimeSeconds = 365 * 24 * 3600;

/** The name of an asset changes with its content. */
export const assetLifetime = `public, max-age=${assetLifetimeSeconds}, immutable`;

/** `GET assets/logo/<file>` */
export function logoRoute({ config }: Pick<Deps, 'config'>) {
  return async function logo(request: FastifyRequest, reply: FastifyReply) {
    const found = config.brand.logos.find(({ address }) => address === request.url);
    if (!found) return reply.callNotFound();
    return reply
      .headers({ 'cache-control': assetLifetime, 'content-security-policy': logoPolicy })
      .type(found.mediaType)
      .send(found.bytes);
  };
}
