import type { ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Hub } from '../config/hub.ts';
import type { Deps } from '../deps/deps.ts';
import { letTakeTime } from '../http/unhurried.ts';
import { hubTokens } from '../hub/hub-tokens.ts';
import { limits } from '../limits.ts';
import { tokenHash } from '../secrets/token.ts';
import type { KnownVisitor } from '../visitor/visitor.ts';
import { type Identity, inTime } from './admit.ts';
import { forwardedHeaders, handshakeHeaders, type Told } from './forwarded-headers.ts';
import { openStreams } from './open-streams.ts';
import { HubFailure, isEvents, wayToHub } from './pass-on.ts';
import { passUpgradeOn } from './pass-upgrade-on.ts';
import { refuseForHub } from './refuse-for-hub.ts';

/** A request that was admitted; `head` for a WebSocket's handshake, null otherwise. */
type Admitted = {
  visitor: KnownVisitor;
  identity: Identity | null;
  head: Buffer | null;
};

/** Passes admitted requests on, and ends streams whose sessions end. The app's stop closes what would delay it. */
export function gatePassage(app: FastifyInstance, deps: Deps, hub: Hub) {
  const way = wayToHub(hub);
  const streams = openStreams(deps);
  const hubToken = hubTokens(deps);
  const timer = setInterval(() => void streams.look(), limits.hub.lookEvery).unref();
  app.addHook('preClose', async () => {
    clearInterval(timer);
    streams.closeAll();
  });
  app.addHook('onClose', async () => way.agent.destroy());

  async function passOn(request: FastifyRequest, reply: FastifyReply, admitted: Admitted): Promise<unknown> {
    try {
      if (admitted.head !== null) await passHandshakeOn(request, reply, admitted, admitted.head);
      else await passRequestOn(request, reply, admitted);
      return undefined;
    } catch (error) {
      if (!(error instanceof HubFailure)) throw error;
      request.log.error({ err: error }, 'the hub gave no answer');
      if (reply.raw.destroyed || reply.raw.headersSent) return undefined;
      return await refuseForHub(deps, request, reply.header('connection', 'close'), error.why === 'silent' ? 504 : 502);
    }
  }

  async function passRequestOn(
    { raw }: FastifyRequest,
    reply: FastifyReply,
    { visitor, identity }: Admitted,
  ): Promise<void> {
    const response = reply.raw;
    response.once('close', letTakeTime(raw.socket));
    response.setTimeout(hub.answerWithin + limits.hub.progress);
    const headers = forwardedHeaders(raw.headers, await told(visitor, identity), deps.config);
    // A visitor who has left by now would keep the hub's connection open.
    if (response.destroyed) {
      reply.hijack();
      return;
    }
    const answer = await way.passOn(raw, response, headers);
    reply.hijack();
    if (!isEvents(answer)) {
      watchLater(response, () => watch(visitor, identity, () => response.destroy()));
      return;
    }
    const forget = watch(visitor, identity, () => {
      // A browser takes the end of events for a reason to ask again.
      answer.unpipe(response);
      answer.destroy();
      response.end();
      // A visitor who does not read never gets the end.
      setTimeout(() => response.destroy(), limits.hub.endWithin).unref();
    });
    response.once('close', forget);
  }

  async function passHandshakeOn(
    { raw }: FastifyRequest,
    reply: FastifyReply,
    { visitor, identity }: Admitted,
    head: Buffer,
  ): Promise<void> {
    const response = reply.raw;
    response.setTimeout(hub.answerWithin + limits.hub.progress);
    const headers = handshakeHeaders(raw.headers, await told(visitor, identity), deps.config);
    const socket = await passUpgradeOn(hub, { raw, response, head }, headers);
    reply.hijack();
    if (socket === null) return;
    socket.once(
      'close',
      watch(visitor, identity, () => socket.destroy()),
    );
    // Fastify ends a request with its response, and this one never ends.
    response.statusCode = 101;
    response.emit('finish');
  }

  async function told({ address }: KnownVisitor, identity: Identity | null): Promise<Told> {
    const token = identity && hub.audience ? await inTime(hubToken(identity, hub.audience)) : null;
    return { address, person: identity?.person ?? null, token };
  }

  /** Streams of nobody, on public paths, have no session that could end; only the portal's stop ends them. */
  function watch({ sessionToken, address }: KnownVisitor, identity: Identity | null, close: () => void): () => void {
    const hash = identity === null || sessionToken === null ? null : tokenHash(sessionToken);
    const { userId = null, person = null } = identity ?? {};
    return streams.add({ tokenHash: hash, userId, address, person, close });
  }

  return { passOn };
}

/** An answer of any type may be a stream: those that go on are watched as events are. */
function watchLater(response: ServerResponse, watch: () => () => void): void {
  const later = setTimeout(() => response.once('close', watch()), limits.hub.watchAfter).unref();
  response.once('close', () => clearTimeout(later));
}
