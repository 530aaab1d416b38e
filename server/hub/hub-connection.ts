import { once } from 'node:events';
import {
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type RequestOptions,
  type ServerResponse,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import { pipeline } from 'node:stream';
import { hubStartPath } from '#contract/screens.ts';
import type { Config } from '../config/config.ts';
import type { Hub } from '../config/hub.ts';
import { failureOfRequest, type ProviderFailure } from '../http/provider-fetch.ts';
import { hasBody } from '../http/raw-requests.ts';
import { limits, second } from '../limits.ts';
import { headersForHub, headersFromHub } from './hub-headers.ts';

/** Why the hub gave no answer: it said nothing in time, or something that is none, or cannot be reached. */
export class HubFailure extends Error {
  readonly why: 'silent' | 'broken';
  readonly code: string | undefined;
  constructor(why: 'silent' | 'broken', message: string, code?: string) {
    super(message);
    this.why = why;
    this.code = code;
  }
}

/**
 * Passes requests that were admitted on to the hub. Both calls throw HubFailure as long as nothing of an answer was sent;
 * later, the visitor's connection is closed.
 */
export function hubConnection({ url, answerWithin }: Hub) {
  const isSecure = url.protocol === 'https:';
  const servername = serverNameOf(url);
  const kept = { keepAlive: true, maxFreeSockets: limits.hub.idleConnections };
  const agent = isSecure ? new HttpsAgent({ ...kept, servername }) : new HttpAgent(kept);

  function begin({ method, originalUrl: path }: IncomingMessage, headers: OutgoingHttpHeaders, by: HttpAgent | false) {
    // Counts from the look-up of its name on, and again after each sign of life.
    const options = { method, path, headers, agent: by, servername, timeout: answerWithin } as RequestOptions;
    const outgoing = (isSecure ? httpsRequest : httpRequest)(url, options);
    return outgoing.once('timeout', () => outgoing.destroy(new HubFailure('silent', 'the hub did not answer in time')));
  }

  /** Passes a request on and its answer back, both as streams. Resolves when the answer has begun. */
  async function passOn(raw: IncomingMessage, response: ServerResponse, headers: OutgoingHttpHeaders) {
    const first = answerTo(raw, response, headers);
    const answer = await first.promise.catch(async (error) => {
      // The hub closed an idle connection just as it was used: a request that changes nothing may go again.
      const isLost = first.outgoing.reusedSocket && ['ECONNRESET', 'EPIPE'].includes(error.code);
      // For a visitor who has left nothing would ever end the second one.
      if (response.destroyed) throw error;
      if (!isLost || hasBody(raw) || (raw.method !== 'GET' && raw.method !== 'HEAD')) throw error;
      return await answerTo(raw, response, headers).promise;
    });
    sendAnswer(answer, response);
    return answer;
  }

  function answerTo(raw: IncomingMessage, response: ServerResponse, headers: OutgoingHttpHeaders) {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const outgoing = begin(raw, headers, agent);
    let isAnswered = false;
    outgoing.once('response', (answer) => {
      isAnswered = true;
      resolve(answer);
    });
    outgoing.on('error', (error) => reject(asHubFailure(error)));
    // An upgrade that nobody asked for ends a connection without an error.
    outgoing.once('close', () => {
      if (!isAnswered) reject(new HubFailure('broken', 'the hub closed the connection'));
    });
    // The visitor has left, or has the answer, which needs no more of an upload.
    response.once('close', () => outgoing.destroy());
    if (hasBody(raw)) {
      // What the hub does not read of it would be the beginning of the next person's request.
      outgoing.shouldKeepAlive = false;
      raw.pipe(outgoing);
    } else outgoing.end();
    return { promise, outgoing };
  }

  /**
   * Passes the handshake of a WebSocket on, and what its connection has sent after it. Resolves to whether the hub has
   * accepted; if it answered otherwise, the answer was sent.
   */
  async function passHandshakeOn(
    { raw, response, head }: { raw: IncomingMessage; response: ServerResponse; head: Buffer },
    headers: OutgoingHttpHeaders,
  ): Promise<boolean> {
    const { socket } = raw;
    const outgoing = begin(raw, { ...headers, Connection: 'Upgrade', Upgrade: 'websocket' }, false);
    const giveUp = () => outgoing.destroy();
    socket.once('close', giveUp);
    const { promise, resolve, reject } = Promise.withResolvers<boolean>();
    outgoing.on('error', (error) => reject(asHubFailure(error)));
    outgoing.once('response', (answer) => {
      try {
        sendAnswer(answer, response);
        resolve(false);
      } catch (error) {
        reject(error);
      }
    });
    outgoing.once('upgrade', (answer, hubSocket, hubHead) => {
      socket.off('close', giveUp);
      if (socket.destroyed || hubSocket.destroyed) {
        hubSocket.destroy();
        reject(new HubFailure('broken', 'the connection closed during the handshake'));
        return;
      }
      response
        .writeHead(101, ['Connection', 'Upgrade', 'Upgrade', 'websocket', ...headersFromHub(answer)])
        .flushHeaders();
      response.detachSocket(socket);
      socket.setTimeout(limits.hub.silence, () => socket.destroy());
      hubSocket.setTimeout(0);
      if (head.length > 0) hubSocket.write(head);
      if (hubHead.length > 0) socket.write(hubHead);
      const destroyBoth = () => {
        socket.destroy();
        hubSocket.destroy();
      };
      pipeline(socket, hubSocket, destroyBoth);
      pipeline(hubSocket, socket, destroyBoth);
      resolve(true);
    });
    outgoing.end();
    return await promise;
  }

  return { passOn, passHandshakeOn, close: () => agent.destroy() };
}

/**
 * The name that the hub's certificate must have, if it is not an IP address: the Host of a request is the portal's, and says
 * nothing about it.
 */
function serverNameOf({ hostname }: URL): string {
  return isIP(hostname.replace(/^\[|\]$/g, '')) === 0 ? hostname : '';
}

function asHubFailure(error: Error): HubFailure {
  if (error instanceof HubFailure) return error;
  const { code } = error as NodeJS.ErrnoException;
  return new HubFailure(code === 'ETIMEDOUT' ? 'silent' : 'broken', error.message, code);
}

/** Sends the hub's answer; throws HubFailure if it has a status or a header that cannot be sent. */
function sendAnswer(answer: IncomingMessage, response: ServerResponse): void {
  const silence = isEvents(answer) ? limits.hub.silence : limits.hub.progress;
  try {
    response.writeHead(answer.statusCode ?? 0, headersFromHub(answer));
  } catch (error) {
    answer.destroy();
    throw new HubFailure('broken', (error as Error).message);
  }
  // What has come with the headers leaves with them, in one write. Those of an answer that pauses leave alone.
  response.cork();
  response.flushHeaders();
  setImmediate(() => response.uncork());
  answer.setTimeout(silence, () => answer.destroy());
  response.setTimeout(silence, () => response.destroy());
  answer.pipe(response);
  // Of an answer that breaks off, the visitor's does not look whole.
  answer.once('close', () => answer.complete || response.destroy());
}

/** Whether an answer is a stream of server-sent events, which may pause, and never ends by itself. */
export function isEvents({ headers }: IncomingMessage): boolean {
  return /^text\/event-stream\b/i.test(headers['content-type'] ?? '');
}

type HubAnswer = { kind: 'answered'; status: number } | { kind: 'failed'; failure: ProviderFailure };

/** Asks the hub for its own page as the gate does, on behalf of nobody, for `doctor`. The answer's body is not read. */
export async function askHub(config: Config, hub: Hub): Promise<HubAnswer> {
  const url = new URL(config.basePath + hubStartPath, hub.url);
  const told = { address: '127.0.0.1', person: null, token: null };
  const headers = headersForHub(config)({ host: config.publicUrl.host, accept: 'text/html' }, told);
  const signal = AbortSignal.timeout(doctorWaits);
  const options = { headers, agent: false as const, signal, servername: serverNameOf(url) };
  const asked = (url.protocol === 'https:' ? httpsRequest : httpRequest)(url, options).end();
  try {
    const [{ statusCode = 0 }] = (await once(asked, 'response', { signal })) as [IncomingMessage];
    return { kind: 'answered', status: statusCode };
  } catch (error) {
    const thrown = signal.aborted ? signal.reason : new TypeError('', { cause: error });
    return { kind: 'failed', failure: failureOfRequest(thrown, url) };
  } finally {
    asked.destroy();
  }
}

const doctorWaits = 10 * second;
