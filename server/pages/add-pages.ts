import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { accountUrl } from '#contract/account.ts';
import { hubStartPath, screenPaths } from '#contract/screens.ts';
import { logoFolder, logoPolicy } from '../config/brand.ts';
import type { Deps } from '../deps.ts';
import type { BuiltPages } from '../http/built-pages.ts';
import { notFound } from '../http/unexpected-error.ts';
import { isSignedInAt } from '../sessions/visitor.ts';
import { screenRoute, standInRoute } from './screen-route.ts';

/** A year: the name of an asset changes with its content. */
const assetLifetime = `public, max-age=${365 * 24 * 3600}, immutable`;

/** Adds the screens and their files, and the answer to every address that is no route's. */
export async function addPages(app: FastifyInstance, deps: Deps, built: BuiltPages): Promise<void> {
  const { basePath, hub } = deps.config;
  const named = (name: string) => ({ config: { name } });
  const isSignedIn = isSignedInAt(deps);
  app.setNotFoundHandler(notFound(deps));
  if (!hub) app.get(basePath + hubStartPath, named('standIn'), standInRoute(deps));
  if (!hub?.paths.includes('/'))
    app.get('/', named('root'), async (_request, reply) => reply.redirect(`${basePath}/`, 302));
  // Where password managers send users to change a password (W3C: A Well-Known URL for Changing Passwords).
  app.get('/.well-known/change-password', named('changePassword'), async (request, reply) => {
    const url = (await isSignedIn(request)) ? accountUrl(basePath, 'password') : basePath + screenPaths.forgotten;
    return reply.redirect(url, 302);
  });
  await app.register(fastifyStatic, {
    root: fileURLToPath(built.assetFolder),
    prefix: `${basePath}/assets/`,
    preCompressed: true,
    index: false,
    decorateReply: true,
    cacheControl: false,
    setHeaders: (reply) => reply.header('cache-control', assetLifetime),
  });
  app.get(`${basePath}${logoFolder}/:file`, named('logo'), logoRoute(deps));
  app.get(basePath, named('screen'), screenRoute(deps));
  app.get(`${basePath}/*`, named('screen'), screenRoute(deps));
}

/** `GET assets/logo/<file>` */
function logoRoute({ config }: Pick<Deps, 'config'>) {
  return async function logo(request: FastifyRequest, reply: FastifyReply) {
    const found = config.brand.logos.find(({ address }) => address === request.url);
    if (!found) return reply.callNotFound();
    return reply
      .headers({ 'cache-control': assetLifetime, 'content-security-policy': logoPolicy })
      .type(found.mediaType)
      .send(found.bytes);
  };
}
