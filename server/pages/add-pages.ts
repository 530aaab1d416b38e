import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';
import { accountUrl } from '#contract/account.ts';
import { hubStartPath, screenPaths } from '#contract/screens.ts';
import { logoFolder } from '../config/brand.ts';
import type { Deps } from '../deps.ts';
import type { BuiltPages } from '../http/built-pages.ts';
import { assetLifetime, logoRoute } from '../http/logo-route.ts';
import { methodNotAllowed } from '../http/method-not-allowed.ts';
import { isSignedInAt } from '../sessions/visitor.ts';
import { screenRoute, standInRoute } from './screen-route.ts';

/** Adds the screens and their files, and the answer to every address that is no route's. */
export async function addPages(app: FastifyInstance, deps: Deps, built: BuiltPages): Promise<void> {
  const { basePath, hub } = deps.config;
  const named = (name: string) => ({ config: { name } });
  const isSignedIn = isSignedInAt(deps);
  app.setNotFoundHandler(methodNotAllowed(deps, isSignedIn));
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
