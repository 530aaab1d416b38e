import type { FastifyInstance, FastifyReply, FastifyRequest, RouteGenericInterface } from 'fastify';
import { BackchannelLogoutForm } from '#contract/payloads.ts';
import type { Deps } from '../deps.ts';
import { callRoutes } from '../http/call-routes.ts';
import { noBrowser, onlyNavigation } from '../http/fetch-metadata.ts';
import { queryValue } from '../http/request-url.ts';
import { limits } from '../limits.ts';
import {
  checkSsoFormAgain,
  checkSsoRoute,
  checkSsoSchema,
  leaveRoute,
  performSsoFormAgain,
  performSsoRoute,
  performSsoSchema,
} from './begin-routes.ts';
import { samlAcsRoute, samlAnswerSchema, samlFinishRoute } from './saml/answer-routes.ts';
import { samlLogoutRoute, samlLogoutSchema } from './saml/logout-route.ts';
import { samlMetadataRoute } from './saml/messages.ts';

type Handler<R extends RouteGenericInterface> = (request: FastifyRequest<R>, reply: FastifyReply) => Promise<unknown>;

/** Adds single sign-on: visits to a provider, its answers, and its logouts. */
export function addSingleSignOn(app: FastifyInstance, deps: Deps): void {
  const add = callRoutes(app, deps);
  add('checkSsoLogin', 'everybody', checkSsoRoute(deps), {
    schema: checkSsoSchema,
    formAgain: checkSsoFormAgain(deps),
  });
  const perform = { schema: performSsoSchema, attachValidation: true, formAgain: performSsoFormAgain(deps) };
  add('performSsoLogin', 'everybody', performSsoRoute(deps), perform);
  add('ssoLeave', 'visit', leaveRoute(deps));

  // Reading an answer consumes it, which a HEAD must not do.
  const answer = { below: '/:connection', exposeHeadRoute: false, onRequest: onlyNavigation(deps) };
  const callback = loaded(async () => (await import('./oidc/callback-route.ts')).oidcCallbackRoute(deps));
  add('oidcCallback', 'visit', callback, { ...answer, onSend: dropFragment });
  const isProviders = true;
  const token = {
    below: '/:connection',
    schema: { body: BackchannelLogoutForm },
    onRequest: noBrowser(deps),
    isProviders,
  } as const;
  const logout = loaded(async () => (await import('./oidc/backchannel-logout.ts')).backchannelLogoutRoute(deps));
  add('oidcBackchannelLogout', 'provider', logout, token);
  const keys = loaded(async () => (await import('./oidc/client-authentication.ts')).oidcKeysRoute(deps));
  add('oidcKeys', 'everybody', keys);

  const saml = { bodyLimit: limits.samlBodyBytes, schema: samlAnswerSchema, onRequest: onlyNavigation(deps) };
  add('samlAnswer', 'everybody', samlAcsRoute(deps), { ...saml, isProviders });
  add('samlFinish', 'visit', samlFinishRoute(deps), saml);
  const onRequest = onlyNavigation(deps, { inFrames: true });
  const posted = { bodyLimit: limits.samlBodyBytes, schema: samlLogoutSchema, onRequest, isProviders } as const;
  add('samlLogout', 'provider', samlLogoutRoute(deps), { exposeHeadRoute: false, onRequest });
  add('samlLogoutPosted', 'provider', samlLogoutRoute(deps), posted);
  add('samlMetadata', 'everybody', samlMetadataRoute(deps));
}

/** A route whose code is loaded by its first request: OpenID Connect would be a tenth of the time and memory of a start. */
function loaded<R extends RouteGenericInterface>(load: () => Promise<Handler<R>>): Handler<R> {
  return async (request, reply) => await (await load())(request, reply);
}

/**
 * An altered link can have a provider answer in the fragment, which a browser takes along with a redirect: an empty one
 * replaces it.
 */
async function dropFragment(request: FastifyRequest, reply: FastifyReply, payload: unknown): Promise<unknown> {
  const location = reply.getHeader('location');
  if (typeof location === 'string' && queryValue(request, 'state') === null) reply.header('location', `${location}#`);
  return payload;
}
