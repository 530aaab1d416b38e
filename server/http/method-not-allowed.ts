import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Call, calls, isPathOfCall } from '#contract/calls.ts';
import { hubStartPath, screenOfPath, withoutTrailingSlash } from '#contract/screens.ts';
import type { Deps } from '../deps/deps.ts';
import { refuse, sendProblem } from './refuse.ts';
import { splitUrl, wantsPage } from './request-url.ts';

const readable = ['GET', 'HEAD'];

/** Answers unrouted requests: 405 with the methods that the address supports, else 404. */
export function methodNotAllowed(deps: Deps) {
  return async function noRoute(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const methods = methodsOf(splitUrl(request.url).path, deps.config.basePath);
    if (methods.length > 0 && !methods.includes(request.method)) {
      reply.header('allow', methods.join(', '));
      return await refuse(deps, request, reply, 405);
    }
    if (wantsPage(request) || request.headers.accept === undefined) return await deps.pages.send(request, reply, 404);
    return sendProblem(reply, 404);
  };
}

/** The methods of an address; none if it doesn't exist. */
function methodsOf(path: string, basePath: string): string[] {
  const plain = withoutTrailingSlash(path);
  if (['/', '/.well-known/change-password', '/healthz', '/readyz', '/metrics'].includes(plain)) return readable;
  if (plain !== basePath && !plain.startsWith(`${basePath}/`)) return [];
  const below = plain.slice(basePath.length);
  const methods = (Object.keys(calls) as Call[])
    .filter((call) => isPathOfCall(call, below))
    .flatMap((call) => (calls[call].method === 'GET' ? readable : calls[call].method));
  if (methods.length > 0) return methods;
  return below === hubStartPath || screenOfPath(below).name !== 'notFound' ? readable : [];
}
