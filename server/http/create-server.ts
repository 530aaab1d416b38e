import Fastify, { type FastifyInstance, type FastifyRequest, LogController } from 'fastify';
import type { Deps } from '../deps.ts';
import { limits } from '../limits.ts';
import type { BuiltPages } from './built-pages.ts';
import { timeRequest } from './call-routes.ts';
import { guardRequest } from './guards.ts';
import { tooManyHeadersPage } from './pages.ts';
import { asksForWebSocket, unreadableRequest } from './raw-requests.ts';
import { readForm } from './request-body.ts';
import { logRequest } from './request-log.ts';
import { isWellEncoded, splitUrl } from './request-url.ts';
import { securityHeaders } from './security-headers.ts';
import { unexpectedError } from './unexpected-error.ts';

/** How long requests and idle connections may last, in milliseconds. */
export type Timeouts = Record<'headersTimeout' | 'requestTimeout' | 'connectionTimeout' | 'keepAliveTimeout', number>;

/** The HTTP server with what holds for every request: limits, guards, headers, log and errors. It has no routes yet. */
export function createServer(deps: Deps, built: BuiltPages, timeouts: Timeouts): FastifyInstance {
  const headers = securityHeaders(deps.config, built.styles);
  const handleError = unexpectedError(deps);
  const app = Fastify({
    loggerInstance: deps.log,
    logController: new LogController({ disableRequestLogging: true }),
    requestIdHeader: false,
    genReqId: () => crypto.randomUUID(),
    bodyLimit: limits.bodyBytes,
    requestTimeout: timeouts.requestTimeout,
    connectionTimeout: timeouts.connectionTimeout,
    keepAliveTimeout: timeouts.keepAliveTimeout,
    // Requests on an open connection during a stop are still answered.
    return503OnClosing: false,
    // A long name in a path gets 404 as a short one does.
    routerOptions: { caseSensitive: true, ignoreTrailingSlash: true, maxParamLength: limits.headerBytes },
    http: {
      headersTimeout: timeouts.headersTimeout,
      connectionsCheckingInterval: limits.connectionsCheckedEvery,
      maxHeaderSize: limits.headerBytes,
      // The guard answers a request without a Host with a readable page.
      requireHostHeader: false,
      // Without it, Node hands over every request that mentions an upgrade.
      ...(deps.config.hub && { shouldUpgradeCallback: asksForWebSocket }),
    },
    clientErrorHandler: unreadableRequest(headers, tooManyHeadersPage(deps.config, built)),
    rewriteUrl: ({ url = '/' }) => decodable(url),
  });
  app.server.maxConnections = limits.connections;
  app.decorateRequest('whyRefused');
  app.decorateRequest('address', '');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'buffer' },
    async ({ headers }: FastifyRequest, body: Buffer) => readForm(body, headers['content-encoding']),
  );
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(headers);
    done();
  });
  app.addHook('onRequest', guardRequest(deps));
  app.addHook('onResponse', logRequest);
  app.addHook('onResponse', timeRequest(deps));
  app.setErrorHandler(handleError);
  return app;
}

/** An address as the router can decode it: one that is not UTF-8 is taken literally, and the hub may have it. */
function decodable(url: string): string {
  const { path, search } = splitUrl(url);
  return isWellEncoded(path) ? url : path.replaceAll('%', '%25') + search;
}
