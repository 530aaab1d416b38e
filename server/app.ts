import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest, LogController } from 'fastify';
import { accountUrl } from '#contract/account.ts';
import { type Call, calls } from '#contract/calls.ts';
import { hubStartPath, screenPaths } from '#contract/screens.ts';
import { addAccount } from './account/account-routes.ts';
import { logoutAgain, logoutConfirmedRoute, logoutRoute } from './account/logout-route.ts';
import { logoFolder } from './config/read-logo.ts';
import type { Deps } from './deps.ts';
import { passkeyOptionsRoute } from './factors/ceremony.ts';
import { passkeyEndpointsRoute } from './factors/endpoints-route.ts';
import { recoveryCodesRoute } from './factors/recovery-codes.ts';
import { registrationRoute } from './factors/registration.ts';
import { sendRoute } from './factors/send-code.ts';
import { twoFactorFormAgain, verifyRoutes, verifySchema } from './factors/verify-routes.ts';
import { answerInTime } from './http/answer-in-time.ts';
import type { BuiltPages } from './http/built-pages.ts';
import { readCodesIn } from './http/code-body.ts';
import type { FormKeeper } from './http/form-again.ts';
import { readForm } from './http/form-body.ts';
import { guardRequest } from './http/guards.ts';
import { assetLifetime, logoRoute } from './http/logo-route.ts';
import { methodNotAllowed } from './http/method-not-allowed.ts';
import { noBrowser, onlyNavigation } from './http/navigation.ts';
import { logRequest, quietLevel } from './http/request-log.ts';
import { securityHeaders } from './http/security-headers.ts';
import { unexpectedError } from './http/unexpected-error.ts';
import { refuseTunnels, unreadableRequest } from './http/unreadable-request.ts';
import { addGate } from './hub/gate.ts';
import { asksForWebSocket } from './hub/handshakes.ts';
import { hubKeysRoute } from './hub/hub-keys-route.ts';
import { sessionRoute } from './hub/session-route.ts';
import { limits } from './limits.ts';
import { healthRoute, readyRoute } from './operations/health.ts';
import { metricsRoute, timeRequest } from './operations/metrics-route.ts';
import { screenRoute } from './pages/screen-route.ts';
import { standInRoute } from './pages/stand-in-route.ts';
import { refusedDestinationRecorder } from './sessions/record-refused-destination.ts';
import { isSignedInAt } from './sessions/visitor.ts';
import { forgottenFormAgain, forgottenRoute, forgottenSchema } from './sign-in/forgotten-route.ts';
import { linkFormAgain, linkRoutes } from './sign-in/link-routes.ts';
import { loginFormAgain, performLoginRoute, performLoginSchema } from './sign-in/perform-login-route.ts';
import { passkeyFormAgain, passkeySignInRoute, passkeySignInSchema } from './sign-in/sign-in-by-passkey.ts';
import { checkSsoFormAgain, checkSsoRoute, checkSsoSchema } from './single-sign-on/check-route.ts';
import { leaveRoute } from './single-sign-on/leave-route.ts';
import { backchannelLogoutRoute, backchannelLogoutSchema } from './single-sign-on/oidc/backchannel-logout-route.ts';
import { dropFragment, oidcCallbackRoute } from './single-sign-on/oidc/callback-route.ts';
import { oidcKeysRoute } from './single-sign-on/oidc/keys-route.ts';
import { performSsoFormAgain, performSsoRoute, performSsoSchema } from './single-sign-on/perform-route.ts';
import { samlAcsRoute, samlAnswerSchema } from './single-sign-on/saml/acs-route.ts';
import { samlFinishRoute } from './single-sign-on/saml/finish-route.ts';
import { samlLogoutRoute, samlLogoutSchema } from './single-sign-on/saml/logout-route.ts';
import { samlMetadataRoute } from './single-sign-on/saml/metadata.ts';

/** What the app needs besides what its routes need. */
type AppOptions = {
  built: BuiltPages;
  /** How long requests and idle connections may last. */
  timeouts?: Partial<Timeouts>;
};

export type Timeouts = Record<
  | 'headersTimeout'
  | 'requestTimeout'
  | 'handlerTimeout'
  | 'connectionTimeout'
  | 'keepAliveTimeout'
  | 'streamsLookedAtEvery',
  number
>;

/** The whole HTTP server: guards, then every route by name. It is not listening yet. */
export async function buildApp(deps: Deps, { built, ...options }: AppOptions): Promise<FastifyInstance> {
  const timeouts: Timeouts = { ...limits, ...options.timeouts };
  const { basePath } = deps.config;
  const headers = securityHeaders(deps.config, built.styles);
  const handleError = unexpectedError(deps);
  const app = Fastify({
    loggerInstance: deps.log,
    logController: new LogController({ disableRequestLogging: true }),
    requestIdHeader: false,
    genReqId: () => crypto.randomUUID(),
    bodyLimit: limits.bodyBytes,
    requestTimeout: timeouts.requestTimeout,
    handlerTimeout: timeouts.handlerTimeout,
    connectionTimeout: timeouts.connectionTimeout,
    keepAliveTimeout: timeouts.keepAliveTimeout,
    forceCloseConnections: 'idle',
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
    clientErrorHandler: unreadableRequest(headers),
    // An address that cannot be decoded reaches no hook.
    frameworkErrors: (error, request, reply) => {
      request.log.info({ req: request, status: 400 }, 'answered');
      return handleError(error, request as FastifyRequest, (reply as unknown as FastifyReply).headers(headers));
    },
  });

  app.server.maxConnections = limits.connections;
  refuseTunnels(app.server, headers);
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
  app.addHook('preValidation', answerInTime);
  app.addHook('onResponse', logRequest(deps));
  app.addHook('onResponse', timeRequest(deps));
  app.setErrorHandler(handleError);
  const isSignedIn = isSignedInAt(deps);
  app.setNotFoundHandler(methodNotAllowed(deps, isSignedIn));

  const named = (name: string) => ({ config: { name } });
  const on = (call: Call, formAgain?: FormKeeper) => ({
    method: calls[call].method,
    url: basePath + calls[call].path,
    config: { name: call, ...(formAgain && { formAgain }) },
  });
  // Forms that carry a destination without being a sign-in.
  const recordRefused = refusedDestinationRecorder(deps);
  const carriesDestination = {
    preHandler: async (request: FastifyRequest, reply: FastifyReply) => recordRefused(request, reply),
  };
  // These report on the form what is wrong with an entry.
  const attachValidation = true;
  app.route({
    ...on('performLogin', loginFormAgain(deps)),
    schema: performLoginSchema,
    attachValidation,
    handler: performLoginRoute(deps),
  });
  app.route({
    ...on('passwordForgotten', forgottenFormAgain(deps)),
    ...carriesDestination,
    schema: forgottenSchema,
    attachValidation,
    handler: forgottenRoute(deps),
  });
  const { change, beginPasskey, addPasskey } = linkRoutes(deps);
  app.route({ ...on('passwordChange', linkFormAgain(deps)), ...carriesDestination, ...change });
  app.route({ ...on('passkeyInvitationOptions'), ...beginPasskey });
  app.route({ ...on('passkeyInvitation', linkFormAgain(deps, 'passkey')), ...carriesDestination, ...addPasskey });
  app.route({ ...on('passkeyOptions'), handler: passkeyOptionsRoute(deps, 'sign-in') });
  app.route({ ...on('passkeyFactorOptions'), handler: passkeyOptionsRoute(deps, 'second-factor') });
  app.route({
    ...on('passkeySignIn', passkeyFormAgain(deps)),
    schema: passkeySignInSchema,
    handler: passkeySignInRoute(deps),
  });
  app.route({ ...on('twoFactorRegistration'), handler: registrationRoute(deps) });
  const codeAgain = twoFactorFormAgain(deps);
  const { verifyCode, verifyPasskey } = verifyRoutes(deps);
  app.route({
    ...on('passkeyFactor', codeAgain),
    ...carriesDestination,
    schema: passkeySignInSchema,
    handler: verifyPasskey,
  });
  await app.register(async (scope) => {
    readCodesIn(scope);
    const route = { ...on('twoFactorVerify', codeAgain), ...carriesDestination };
    scope.route({ ...route, schema: verifySchema, handler: verifyCode });
  });
  app.route({ ...on('twoFactorSend', codeAgain), ...carriesDestination, handler: sendRoute(deps) });
  app.route({
    ...on('twoFactorRecoveryCodes'),
    ...carriesDestination,
    handler: recoveryCodesRoute(deps),
  });
  app.route({ ...on('logout'), ...carriesDestination, exposeHeadRoute: false, handler: logoutRoute(deps) });
  app.route({
    ...on('logoutConfirmed', logoutAgain(deps)),
    ...carriesDestination,
    handler: logoutConfirmedRoute(deps),
  });
  app.route({ ...on('session'), handler: sessionRoute(deps), logLevel: quietLevel });
  app.route({ ...on('checkSsoLogin', checkSsoFormAgain(deps)), schema: checkSsoSchema, handler: checkSsoRoute(deps) });
  app.route({
    ...on('performSsoLogin', performSsoFormAgain(deps)),
    schema: performSsoSchema,
    attachValidation,
    handler: performSsoRoute(deps),
  });
  app.route({ ...on('ssoLeave'), handler: leaveRoute(deps) });
  // Reading an answer consumes it, which a HEAD must not do.
  const callback = on('oidcCallback');
  app.route({
    ...callback,
    url: `${callback.url}/:connection`,
    onRequest: onlyNavigation(deps),
    exposeHeadRoute: false,
    onSend: dropFragment,
    handler: oidcCallbackRoute(deps),
  });
  app.route({ ...on('oidcKeys'), handler: oidcKeysRoute(deps) });
  const logout = on('oidcBackchannelLogout');
  app.route({
    ...logout,
    url: `${logout.url}/:connection`,
    schema: backchannelLogoutSchema,
    onRequest: noBrowser(deps),
    handler: backchannelLogoutRoute(deps),
  });
  const samlAnswer = { bodyLimit: limits.samlBodyBytes, schema: samlAnswerSchema, onRequest: onlyNavigation(deps) };
  app.route({ ...on('samlAnswer'), ...samlAnswer, handler: samlAcsRoute(deps) });
  app.route({ ...on('samlFinish'), ...samlAnswer, handler: samlFinishRoute(deps) });
  const inFrames = onlyNavigation(deps, { inFrames: true });
  app.route({ ...on('samlLogout'), onRequest: inFrames, exposeHeadRoute: false, handler: samlLogoutRoute(deps) });
  app.route({
    ...on('samlLogoutPosted'),
    onRequest: inFrames,
    bodyLimit: limits.samlBodyBytes,
    schema: samlLogoutSchema,
    handler: samlLogoutRoute(deps),
  });
  app.route({ ...on('samlMetadata'), handler: samlMetadataRoute(deps) });
  addAccount(app, deps);
  const { hub } = deps.config;
  if (hub) addGate(app, deps, hub, timeouts.streamsLookedAtEvery);
  else app.get(basePath + hubStartPath, named('standIn'), standInRoute(deps));
  if (!hub?.paths.includes('/'))
    app.get('/', named('root'), async (_request, reply) => reply.redirect(`${basePath}/`, 302));
  // Where password managers send users to change a password (W3C: A Well-Known URL for Changing Passwords).
  app.get('/.well-known/change-password', named('changePassword'), async (request, reply) => {
    const url = (await isSignedIn(request)) ? accountUrl(basePath, 'password') : basePath + screenPaths.forgotten;
    return reply.redirect(url, 302);
  });
  app.get('/.well-known/passkey-endpoints', named('passkeyEndpoints'), passkeyEndpointsRoute(deps.config));
  app.get('/.well-known/jwks.json', { logLevel: quietLevel, ...named('hubKeys') }, hubKeysRoute(deps));
  app.get('/healthz', { logLevel: quietLevel, ...named('health') }, healthRoute);
  const { metricsToken } = deps.config;
  if (metricsToken !== null)
    app.get('/metrics', { logLevel: quietLevel, ...named('metrics') }, metricsRoute(deps, metricsToken));
  app.get('/readyz', { logLevel: quietLevel, ...named('ready') }, readyRoute(deps));
  const assetFolder = fileURLToPath(built.assetFolder);
  await app.register(fastifyStatic, {
    root: assetFolder,
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
  return app;
}
