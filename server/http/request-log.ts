import type { FastifyRequest, onResponseHookHandler } from 'fastify';
import type { Deps } from '../deps.ts';
import { addressOf } from './guards.ts';
import { splitUrl } from './request-url.ts';

const longestPath = 256;

/** What a log line holds of a request: never its query, headers or body, where secrets travel. */
export function loggedRequest(request: FastifyRequest) {
  return { method: request.method, path: splitUrl(request.url).path.slice(0, longestPath) };
}

/** One line per answered request. */
export function logRequest(deps: Deps): onResponseHookHandler {
  return async function logAnswer(request, reply) {
    request.log.info(
      {
        req: request,
        address: addressOf(deps, request),
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 10) / 10,
      },
      'answered',
    );
  };
}
