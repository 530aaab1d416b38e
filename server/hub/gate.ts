import { METHODS } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { referenceOfRequest } from '../audit/reference.ts';
import { type Hub, isAtOrBelow, rootPaths } from '../config/hub.ts';
import { tokenHash } from '../crypto/token.ts';
import type { Deps } from '../deps.ts';
import { isFromOwnOrigin } from '../http/fetch-metadata.ts';
import { refuseForeignSite } from '../http/guards.ts';
import { hasBody, routeHandshakes } from '../http/raw-requests.ts';
import { refuse, sendProblem } from '../http/refuse.ts';
import { quietLevel } from '../http/request-log.ts';
import { splitUrl, wantsPage } from '../http/request-url.ts';
import { notFound } from '../http/unexpected-error.ts';
import { limits } from '../limits.ts';
import { toSignIn } from '../sessions/destination.ts';
import { type Visitor, visitorOf } from '../sessions/visitor.ts';
import { HubFailure, hubConnection, isEvents } from './hub-connection.ts';
import { headersForHub, type Identity, identityOf } from './hub-headers.ts';
import { readPath } from './hub-path.ts';
import { hubTokens } from './hub-tokens.ts';
import { type OpenStream, openStreams } from './open-streams.ts';

/** CONNECT opens a tunnel, and TRACE returns the cookies to a script. */
const methods = METHODS.filter((method) => method !== 'CONNECT' && method !== 'TRACE');

/**
 * The gate: passes requests for the hub's paths on to it, if somebody is signed in or the path is public. The
 * portal's own routes go first; the hub never sees a request for them. Throws while the database is down: a request that
 * nothing was found out about is never admitted.
 */
export function addGate(app: FastifyInstance, deps: Deps, hub: Hub, lookEvery: number): void {
  const { config } = deps;
  const hubToken = hubTokens(deps);
  const forHub = headersForHub(config);
  const connection = hubConnection(hub);
  const streams = openStreams(deps, lookEvery);
  const answerNotFound = notFound(deps);
  app.addHook('preClose', async () => streams.stop());
  app.addHook('onClose', async () => connection.close());
  for (const method of methods) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method);
  routeHandshakes(app);

  async function gate(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
    const { originalUrl } = request;
    const { path: sent } = splitUrl(originalUrl);
    const read = readPath(sent);
    if (read === null || originalUrl.includes('#')) {
      const detail = 'The path can be read as more than one.';
      return await refuse(deps, closing(reply), 400, { detail });
    }
    if (isPortals(read.path)) return await answerNotFound(request, closing(reply));
    const visitor = visitorOf(deps, request);

    const isPublic = read.isPlain && hub.publicPaths.some((open) => isAtOrBelow(sent, open));
    const isHandshake = request.raw.handshakeHead !== undefined;
    const mayChange = isHandshake || (request.method !== 'GET' && request.method !== 'HEAD');
    const isForeign = mayChange && !isFromOwnOrigin(request.headers, config.origins);
    // On a public path another site's page acts as nobody.
    if (isForeign && !isPublic) return await refuseForeignSite(deps, closing(reply));
    const identity = isForeign ? null : identityOf(await visitor.who());
    if (identity === null && !isPublic) return await refuseNobody(visitor, closing(reply));
    try {
      return await passOn(reply, visitor, identity);
    } catch (error) {
      if (!(error instanceof HubFailure)) throw error;
      return await answerInItsPlace(reply, error);
    }
  }

  /** A person is sent to sign in, and from there back to the page; a script is told. */
  async function refuseNobody(visitor: Visitor, reply: FastifyReply) {
    const { request } = reply;
    const who = await visitor.who();
    if (wantsPage(request) && (request.method === 'GET' || request.method === 'HEAD'))
      return toSignIn(deps, reply, { who, page: request.originalUrl });
    return sendProblem(reply, 401);
  }

  async function passOn(reply: FastifyReply, visitor: Visitor, identity: Identity | null) {
    const { raw } = reply.request;
    const { socket, handshakeHead: head } = raw;
    const response = reply.raw;
    const token = identity && hub.audience ? await hubToken(identity, hub.audience) : null;
    const headers = forHub(raw.headers, { address: visitor.address, person: identity?.person ?? null, token });
    // A visitor who has left by now would keep the hub's connection open.
    if (socket.destroyed) return reply.hijack();
    response.setTimeout(hub.answerWithin + limits.hub.progress);
    const stream: OpenStream = {
      tokenHash: identity && visitor.sessionToken !== null ? tokenHash(visitor.sessionToken) : null,
      customers: identity?.person.customers ?? [],
      address: visitor.address,
      isEndless: false,
      close: () => void socket.destroy(),
    };
    const carrier = head ? socket : response;
    carrier.once('close', streams.add(stream));
    if (head) {
      stream.isEndless = await connection.passHandshakeOn({ raw, response, head }, headers);
      // Fastify ends a request with its response, and this one never ends.
      if (stream.isEndless) Object.assign(response, { statusCode: 101 }).emit('finish');
    } else {
      socket.mayTakeTime = true;
      response.once('close', () => {
        socket.mayTakeTime = false;
      });
      stream.isEndless = isEvents(await connection.passOn(raw, response, headers));
    }
    return reply.hijack();
  }

  /** A page for a person, a problem document for a script. What was sent is never sent again by us. */
  async function answerInItsPlace(reply: FastifyReply, failure: HubFailure) {
    const { request } = reply;
    // The visitor has left, or was closed by us: the hub was only broken off.
    if (reply.raw.destroyed) return undefined;
    request.log.error({ err: failure }, 'the hub gave no answer');
    if (reply.raw.headersSent) return undefined;
    reply.header('connection', 'close');
    const status = failure.why === 'silent' ? 504 : 502;
    if (!wantsPage(request)) return sendProblem(reply, status);
    const again = request.method === 'GET' ? 'open' : 'goBack';
    return await deps.pages.send(reply, status, {
      screen: { name: 'problem', status, retryAfterSeconds: null, again },
      reference: referenceOfRequest(request.id),
    });
  }

  /** Whether an address is the portal's own, although no route of it has the method. */
  function isPortals(path: string): boolean {
    const isBelow = (place: string) => isAtOrBelow(path, place.toLowerCase());
    if (hub.paths.some((served) => served !== '/' && isBelow(served))) return false;
    return [config.basePath, ...rootPaths].some(isBelow);
  }

  for (const path of hub.paths)
    for (const url of [path, path === '/' ? '/*' : `${path}/*`])
      app.route({
        method: methods,
        url,
        exposeHeadRoute: false,
        logLevel: quietLevel,
        config: { isHubs: true, name: 'hub' },
        // Before the body is looked at: it is the hub's to read.
        onRequest: (request, reply, done) => {
          gate(request, reply).catch(done);
        },
        handler: () => {
          throw new Error('the gate answers earlier');
        },
      });
}

/** What remains of a body that is not passed on is not read. */
function closing(reply: FastifyReply): FastifyReply {
  return hasBody(reply.request.raw) ? reply.header('connection', 'close') : reply;
}
