import { basename, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest, LogController } from 'fastify';
import { type Call, calls } from '#contract/calls.ts';
import { LoginForm } from '#contract/payloads.ts';
import { hubStartPath } from '#contract/screens.ts';
import type { Deps } from './deps.ts';
import type { BuiltPages } from './http/built-pages.ts';
import { readForm } from './http/form-body.ts';
import { guardRequest } from './http/guards.ts';
import { healthRoute, readyRoute } from './http/health.ts';
import { methodNotAllowed } from './http/method-not-allowed.ts';
import { notSetUpRoute } from './http/not-set-up-route.ts';
import { loggedRequest, logRequest } from './http/request-log.ts';
import { screenRoute } from './http/screen-route.ts';
import { securityHeaders } from './http/security-headers.ts';
import { unexpectedError } from './http/unexpected-error.ts';
import { standInRoute } from './hub/stand-in-route.ts';
import { limits } from './limits.ts';
import { sessionRoute } from './session/session-route.ts';
import { logoutConfirmedRoute, logoutRoute } from './sign-in/logout-route.ts';
import { performLoginRoute } from './sign-in/perform-login-route.ts';

/** What the app needs besides what its routes need. `logLevel` is pino's; lines go to `logTo`, else to standard output. */
export type AppOptions = {
  built: BuiltPages;
  logLevel: string;
  logTo?: { write: (line: string) => void };
  makeDeps: (log: FastifyInstance['log']) => Deps;
};

/** The whole HTTP server: guards, then every route by name. It listens to nothing yet. */
export async function buildApp({ built, logLevel, logTo, makeDeps }: AppOptions): Promise<FastifyInstance> {
  const app = Fastify({
    logger: {
      level: logLevel,
      ...(logTo && { stream: logTo }),
      serializers: { req: loggedRequest },
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
    },
    logController: new LogController({ disableRequestLogging: true }),
    requestIdHeader: false,
    genReqId: () => crypto.randomUUID(),
    bodyLimit: limits.bodyBytes,
    requestTimeout: limits.requestTimeout,
    connectionTimeout: limits.connectionTimeout,
    keepAliveTimeout: limits.keepAliveTimeout,
    forceCloseConnections: 'idle',
    routerOptions: { caseSensitive: true, ignoreTrailingSlash: true },
    http: {
      headersTimeout: limits.headersTimeout,
      connectionsCheckingInterval: limits.connectionsCheckedEvery,
      maxHeaderSize: limits.headerBytes,
    },
    frameworkErrors: (error, request, reply) =>
      handleError(error, request as FastifyRequest, reply as unknown as FastifyReply),
  });
  const deps = makeDeps(app.log);
  const { basePath } = deps.config;
  const headers = securityHeaders(deps.config, built.style);
  const handleError = unexpectedError(deps);

  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    async (_request: FastifyRequest, body: string) => readForm(body),
  );
  app.addHook('onRequest', async (_request, reply) => {
    reply.headers(headers);
  });
  app.addHook('onRequest', guardRequest(deps));
  app.addHook('onResponse', logRequest(deps));
  app.setErrorHandler(handleError);
  app.setNotFoundHandler(methodNotAllowed(deps));

  const on = (call: Call) => ({ method: calls[call].method, url: basePath + calls[call].path });
  app.route({ ...on('performLogin'), schema: { body: LoginForm }, handler: performLoginRoute(deps) });
  app.route({ ...on('logout'), handler: logoutRoute(deps) });
  app.route({ ...on('logoutConfirmed'), handler: logoutConfirmedRoute(deps) });
  app.route({ ...on('session'), handler: sessionRoute(deps), logLevel: 'warn' });
  for (const call of [
    'checkSsoLogin',
    'performSsoLogin',
    'passwordForgotten',
    'passwordChange',
    'twoFactorRegistration',
    'twoFactorVerify',
  ] as const) {
    app.route({ ...on(call), ...notSetUpRoute(deps) });
  }
  app.get(basePath + hubStartPath, standInRoute(deps));
  app.get('/', async (_request, reply) => reply.redirect(`${basePath}/`, 302));
  app.get('/healthz', { logLevel: 'warn' }, healthRoute);
  app.get('/readyz', { logLevel: 'warn' }, readyRoute(deps));
  await app.register(fastifyStatic, {
    root: fileURLToPath(built.assetFolder),
    prefix: `${basePath}/assets/`,
    preCompressed: true,
    index: false,
    decorateReply: true,
    cacheControl: false,
    setHeaders: (reply) => reply.header('cache-control', `public, max-age=${limits.assetLifetimeSeconds}, immutable`),
  });
  const { logoFile } = deps.config;
  if (logoFile) {
    app.get(`${basePath}/logo`, async (_request, reply) => reply.sendFile(basename(logoFile), dirname(logoFile)));
  }
  app.get(basePath, screenRoute(deps));
  app.get(`${basePath}/*`, screenRoute(deps));
  return app;
}
