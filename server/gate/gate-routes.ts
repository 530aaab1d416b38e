import { METHODS } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Hub, rootPaths } from '../config/hub.ts';
import type { Deps } from '../deps/deps.ts';
import { refuseForeignSite } from '../http/guards.ts';
import { methodNotAllowed } from '../http/method-not-allowed.ts';
import { refuse, sendProblem } from '../http/refuse.ts';
import { quietLevel } from '../http/request-log.ts';
import { splitUrl, wantsPage } from '../http/request-url.ts';
import { limits } from '../limits.ts';
import { toSignIn } from '../session/to-sign-in.ts';
import { turnOfEndedSession } from '../session/turn-of-ended-session.ts';
import { type KnownVisitor, knownVisitorOf } from '../visitor/visitor.ts';
import { admission } from './admit.ts';
import { gatePassage } from './gate-passage.ts';
import { pageAskedFor } from './page-asked-for.ts';
import { type HubPath, mayBeBelow, readPath } from './read-path.ts';
import { refuseAccess } from './refuse-for-hub.ts';
import { headOfHandshake, routeHandshakes } from './upgrades.ts';

/** CONNECT opens a tunnel, and TRACE returns the cookies to whoever asks. */
const methods = METHODS.filter((method) => method !== 'CONNECT' && method !== 'TRACE');

/**
 * The gate (decisions §10): passes requests for the hub's paths on to it, once they have been admitted. The portal's own
 * routes go first; the hub never sees a request for them.
 */
export function addGate(app: FastifyInstance, deps: Deps, hub: Hub): void {
  const admit = admission(deps, hub.rules);
  const passage = gatePassage(app, deps, hub);
  const noRoute = methodNotAllowed(deps);
  for (const method of methods) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method);
  routeHandshakes(app);

  async function gate(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
    const path = readPath(splitUrl(request.url).path);
    if (path === null || request.url.includes('#'))
      return await refuseUnread(400, request, reply, 'The path can be read in more than one way.');
    if (isPortals(path)) return await noRoute(request, closing(request, reply));
    const visitor = await knownVisitorOf(deps, request, reply);
    if (visitor === null) return reply;
    const head = headOfHandshake(request.raw);
    const admitted = await admit(request, visitor, path, head !== null);
    switch (admitted.kind) {
      case 'admitted':
        return await passage.passOn(request, reply, { visitor, head, ...admitted });
      case 'signedOut':
        return await refuseNobody(visitor, request, closing(request, reply));
      case 'noAccess':
        return await refuseAccess(deps, request, closing(request, reply), admitted);
      case 'foreignSite':
        return await refuseForeignSite(deps, request, closing(request, reply));
      case 'ahead':
        return await refuse(deps, request, closing(request, reply), 403);
    }
  }

  async function refuseUnread(status: 400, request: FastifyRequest, reply: FastifyReply, detail: string) {
    return await refuse(deps, request, closing(request, reply), status, { detail });
  }

  /** A person is sent to sign in, and from there back to the page; a script is told. */
  async function refuseNobody(
    visitor: KnownVisitor,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<FastifyReply> {
    const who = await visitor.who();
    if (wantsPage(request) && (request.method === 'GET' || request.method === 'HEAD')) {
      return toSignIn(deps, request, reply, { who, page: pageAskedFor(deps.config, request) });
    }
    turnOfEndedSession(deps, request, reply, who);
    return sendProblem(reply, 401);
  }

  /** Whether an address is the portal's own, although no route of it has the method. */
  function isPortals(path: HubPath): boolean {
    const { basePath } = deps.config;
    if (hub.paths.some((served) => served !== '/' && mayBeBelow(path, served))) return false;
    return [basePath, ...rootPaths].some((own) => mayBeBelow(path, own));
  }

  for (const path of hub.paths) {
    const below = path === '/' ? '/*' : `${path}/*`;
    for (const url of [path, below])
      app.route({
        method: methods,
        url,
        exposeHeadRoute: false,
        logLevel: quietLevel,
        config: { isHubs: true, name: 'hub' },
        handlerTimeout: limits.longestTimer,
        // Before the body is looked at: it is the hub's to read.
        onRequest: (request, reply, done) => {
          gate(request, reply).catch(done);
        },
        handler: () => {
          throw new Error('the gate answers earlier');
        },
      });
  }
}

/** What remains of a body that is not passed on is not read. */
function closing({ raw }: FastifyRequest, reply: FastifyReply): FastifyReply {
  const hasBody = raw.headers['transfer-encoding'] !== undefined || Number(raw.headers['content-length'] ?? 0) > 0;
  return hasBody ? reply.header('connection', 'close') : reply;
}
