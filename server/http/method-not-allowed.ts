import type { FastifyReply, FastifyRequest } from 'fastify';
import { calls } from '#contract/calls.ts';
import type { Deps } from '../deps.ts';
import { refuse, sendProblem } from './refuse.ts';
import { splitUrl, wantsPage } from './request-url.ts';

/** Answers what no route has: 405 with the methods that an address does have, else 404. */
export function methodNotAllowed(deps: Deps) {
  const { basePath } = deps.config;
  return async function noRoute(request: FastifyRequest, reply: FastifyReply) {
    const { path } = splitUrl(request.url);
    const isOurs = path === basePath || path.startsWith(`${basePath}/`);
    if (isOurs && request.method !== 'GET' && request.method !== 'HEAD') {
      reply.header('allow', methodsOf(path.slice(basePath.length)).join(', '));
      return await refuse(deps, request, reply, 405);
    }
    return wantsPage(request) ? await deps.pages.send(request, reply, 404) : sendProblem(reply, 404);
  };
}

/** The methods of an address below the base path; what is no call is a screen. */
export function methodsOf(path: string): string[] {
  const plain = path.replace(/(.)\/$/, '$1');
  const methods: string[] = Object.values(calls)
    .filter((call) => call.path === plain)
    .map(({ method }) => method);
  if (methods.length === 0) methods.push('GET');
  return methods.includes('GET') ? [...methods, 'HEAD'] : methods;
}
