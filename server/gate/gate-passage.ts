import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
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
import { type OpenStream, openStreams } from './open-streams.ts';
import { HubFailure, isEvents, wayToHub } from './pass-on.ts';
import { passUpgradeOn } from './pass-upgrade-on.ts';
import { refuseForHub } from './refuse-for-hub.ts';

/** A request that was admitted; `head` for a WebSocket's handshake, null otherwise. */
type Admitted = {
  visitor: KnownVisitor;
  identity: Identity | null;
  head: Buffer | null;
};

/** Passes admitted requests on, and ends those that go on when their sessions end. The app's stop closes what would delay it. */
export function gatePassage(app: FastifyInstance, deps: Deps, hub: Hub) {
  const way = wayToHub(hub);
  const streams = openStreams(deps);
  const hubToken = hubTokens(deps);
  const timer = setInterval(() => void streams.look(), limits.hub.lookEvery).unref();
  app.addHook('preClose', async () => {
    clearInterval(timer);
    streams.stop();
  });
  app.addHook('onClose', async () => way.agent.destroy());

  async function passOn(request: FastifyRequest, reply: FastifyReply, admitted: Admitted): Promise<unknown> {
    try {
      if (admitted.head !== null) await passHandshakeOn(request, reply, admitted, admitted.head);
      else await passRequestOn(request, reply, admitted);
      return undefined;
    } catch (error) {
      if (!(error instanceof HubFailure)) throw error;
      // The visitor has left, or was closed by us: the hub was only broken off.
      if (reply.raw.destroyed) return undefined;
      request.log.error({ err: error }, 'the hub gave no answer');
      if (reply.raw.headersSent) return undefined;
      return await refuseForHub(deps, request, reply.header('connection', 'close'), error.why === 'silent' ? 504 : 502);
    }
  }

  async function passRequestOn({ raw }: FastifyRequest, reply: FastifyReply, admitted: Admitted): Promise<void> {
    const response = reply.raw;
    response.once('close', letTakeTime(raw.socket));
    response.setTimeout(hub.answerWithin + limits.hub.progress);
    const headers = forwardedHeaders(raw.headers, await told(admitted), deps.config);
    // A visitor who has left by now would keep the hub's connection open.
    if (response.destroyed) {
      reply.hijack();
      return;
    }
    let close = () => void response.destroy();
    const watchNow = watchLater(response, () =>
      watch(admitted, { close: () => close(), closesAtStop: () => response.headersSent }),
    );
    const answer = await way.passOn(raw, response, headers);
    reply.hijack();
    if (!isEvents(answer)) return;
    close = () => {
      // A browser takes the end of events for a reason to ask again.
      answer.unpipe(response);
      answer.destroy();
      response.end();
      // A visitor who does not read never gets the end.
      setTimeout(() => response.destroy(), limits.hub.endWithin).unref();
    };
    watchNow();
  }

  async function passHandshakeOn(
    { raw }: FastifyRequest,
    reply: FastifyReply,
    admitted: Admitted,
    head: Buffer,
  ): Promise<void> {
    const response = reply.raw;
    response.setTimeout(hub.answerWithin + limits.hub.progress);
    const headers = handshakeHeaders(raw.headers, await told(admitted), deps.config);
    const close = () => void raw.socket.destroy();
    const watchNow = watchLater(raw.socket, () => watch(admitted, { close, closesAtStop: () => true }));
    const socket = await passUpgradeOn(hub, { raw, response, head }, headers);
    reply.hijack();
    if (socket === null) return;
    watchNow();
    // Fastify ends a request with its response, and this one never ends.
    response.statusCode = 101;
    response.emit('finish');
  }

  async function told({ visitor: { address }, identity }: Admitted): Promise<Told> {
    const token = identity && hub.audience ? await inTime(hubToken(identity, hub.audience)) : null;
    return { address, person: identity?.person ?? null, token };
  }

  /** Streams of nobody, on public paths, have no session that could end; only their limit and the portal's stop end them. */
  function watch(
    { visitor: { sessionToken, address }, identity }: Admitted,
    ending: Pick<OpenStream, 'close' | 'closesAtStop'>,
  ): () => void {
    const hash = identity === null || sessionToken === null ? null : tokenHash(sessionToken);
    const { userId = null, person = null } = identity ?? {};
    return streams.add({ tokenHash: hash, userId, address, person, ...ending });
  }

  return { passOn };
}

/**
 * Has watched what takes longer than most: an upload, or an answer of any type, is a stream if it goes on, whether or not the
 * hub has answered. `watch` returns what ends the watch. Call what is returned to watch at once.
 */
function watchLater(carrier: ServerResponse | Socket, watch: () => () => void): () => void {
  let isWatched = false;
  const watchNow = () => {
    clearTimeout(later);
    // What has closed already would be watched for ever.
    if (!isWatched && !carrier.destroyed) carrier.once('close', watch());
    isWatched = true;
  };
  const later = setTimeout(watchNow, limits.hub.watchAfter).unref();
  carrier.once('close', () => clearTimeout(later));
  return watchNow;
}
