import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Deps } from '../deps.ts';
import { toSignIn } from '../sessions/destination.ts';
import { visitorOf } from '../sessions/visitor.ts';
import { standingOf, wayOf } from '../sessions/ways.ts';

/** `GET portal.html` where no hub is configured (decisions §10): shows who is signed in and offers sign-out. */
export function standInRoute(deps: Deps) {
  return async function standIn(request: FastifyRequest, reply: FastifyReply) {
    const who = await visitorOf(deps, request).who();
    const way = wayOf(standingOf(who), 'hub');
    if (way.kind === 'show' && who.kind === 'full') {
      const { username, email, customers } = who.session;
      const serverPage = { name: 'signedIn', username, email, customers } as const;
      return await deps.pages.send(request, reply, 200, { serverPage });
    }
    return toSignIn(deps, request, reply, { who, page: request.url });
  };
}
