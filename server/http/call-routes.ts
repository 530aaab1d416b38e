import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  onResponseHookHandler,
  RouteGenericInterface,
  RouteHandlerMethod,
  RouteShorthandOptions,
} from 'fastify';
import { type Call, calls } from '#contract/calls.ts';
import type { Deps } from '../deps.ts';
import type { FormKeeper } from './form-again.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What metrics call the route: the name of a call, or of a page. */
    name?: string;
  }
}

/** The laws of a call's route, besides those of every request (guards.ts). */
type Laws = Omit<RouteShorthandOptions, 'config'> & {
  /** How its form is given again while the database is down or the queue is full. */
  formAgain?: FormKeeper;
  /** What its path ends with below the call's own. */
  below?: string;
};

/** Returns what adds the route of a call, in one line: method and path are the contract's (contract/calls.ts). */
export function callRoutes(app: FastifyInstance, { config: { basePath } }: Pick<Deps, 'config'>) {
  return function add<R extends RouteGenericInterface>(
    call: Call,
    handler: (request: FastifyRequest<R>, reply: FastifyReply) => unknown,
    { formAgain, below = '', ...laws }: Laws = {},
  ): void {
    app.route({
      ...laws,
      method: calls[call].method,
      url: basePath + calls[call].path + below,
      config: { name: call, ...(formAgain && { formAgain }) },
      handler: handler as RouteHandlerMethod,
    });
  };
}

/** Times each answered request, by the name of its route: `assets` for the files of the pages, `none` for no route. */
export function timeRequest({ metrics }: Pick<Deps, 'metrics'>): onResponseHookHandler {
  return function observe({ is404, routeOptions }, reply, done) {
    done();
    const route = is404 ? 'none' : (routeOptions.config.name ?? 'assets');
    metrics.requests.observe({ route, status: String(reply.statusCode) }, reply.elapsedTime / 1000);
  };
}
