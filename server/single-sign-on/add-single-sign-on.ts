import type { FastifyInstance } from 'fastify';
import type { Deps } from '../deps.ts';
import { callRoutes } from '../http/call-routes.ts';
import { noBrowser, onlyNavigation } from '../http/fetch-metadata.ts';
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
import { backchannelLogoutRoute, backchannelLogoutSchema } from './oidc/backchannel-logout.ts';
import { dropFragment, oidcCallbackRoute } from './oidc/callback-route.ts';
import { oidcKeysRoute } from './oidc/client-authentication.ts';
import { samlAcsRoute, samlAnswerSchema, samlFinishRoute } from './saml/answer-routes.ts';
import { samlLogoutRoute, samlLogoutSchema } from './saml/logout-route.ts';
import { samlMetadataRoute } from './saml/messages.ts';

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
  add('oidcCallback', 'visit', oidcCallbackRoute(deps), { ...answer, onSend: dropFragment });
  const token = { below: '/:connection', schema: backchannelLogoutSchema, onRequest: noBrowser(deps) };
  add('oidcBackchannelLogout', 'provider', backchannelLogoutRoute(deps), token);
  add('oidcKeys', 'everybody', oidcKeysRoute(deps));

  const saml = { bodyLimit: limits.samlBodyBytes, schema: samlAnswerSchema, onRequest: onlyNavigation(deps) };
  add('samlAnswer', 'everybody', samlAcsRoute(deps), saml);
  add('samlFinish', 'visit', samlFinishRoute(deps), saml);
  const onRequest = onlyNavigation(deps, { inFrames: true });
  const posted = { bodyLimit: limits.samlBodyBytes, schema: samlLogoutSchema, onRequest };
  add('samlLogout', 'provider', samlLogoutRoute(deps), { exposeHeadRoute: false, onRequest });
  add('samlLogoutPosted', 'provider', samlLogoutRoute(deps), posted);
  add('samlMetadata', 'everybody', samlMetadataRoute(deps));
}
