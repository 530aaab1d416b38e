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
    who?: Caller;
  }
}

/**
 * Who may use a call; its handler refuses others, and call-routes.test.ts tries. `link`: who holds an open link from an email;
 * `visit`: the browser that began it; `provider`: an identity provider, by its signature.
 */
export type Caller = 'everybody' | 'half session' | 'full session' | 'link' | 'visit' | 'provider';

/** What holds for the route of a call, besides what holds for every request (guards.ts). */
type Rules = Omit<RouteShorthandOptions, 'config'> & {
  /** How its form is given again while the database is down or the queue is full. */
  formAgain?: FormKeeper;
  isProviders?: true;
  /** What its path ends with below the call's own. */
  below?: string;
};

/** Returns what adds the route of a call in one line: who may use it, what handles it, what else holds. Method and path are the contract's. */
export function callRoutes(app: FastifyInstance, { config: { basePath } }: Pick<Deps, 'config'>) {
  return function add<R extends RouteGenericInterface>(
    call: Call,
    who: Caller,
    handler: (request: FastifyRequest<R>, reply: FastifyReply) => unknown,
    { formAgain, isProviders, below = '', ...rules }: Rules = {},
  ): void {
    app.route({
      ...rules,
      method: calls[call].method,
      url: basePath + calls[call].path + below,
      config: { name: call, who, ...(formAgain && { formAgain }), ...(isProviders && { isProviders }) },
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
