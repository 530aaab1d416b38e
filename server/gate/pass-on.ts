import type { OutgoingHttpHeaders } from 'node:http';
import { type ClientRequest, Agent as HttpAgent, type IncomingMessage, type ServerResponse } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { isIP, type Socket } from 'node:net';
import { createProxyServer } from 'httpxy';
import type { Hub } from '../config/hub.ts';
import { limits } from '../limits.ts';
import { returnedHeaders } from './returned-headers.ts';

/** Why the hub gave no answer: it said nothing in time, or something that is none, or cannot be reached. */
export class HubFailure extends Error {
  readonly why: 'silent' | 'broken';
  constructor(why: 'silent' | 'broken', message: string) {
    super(message);
    this.why = why;
  }
}

/** A request on its way to the hub. */
type Passage = {
  outgoing?: ClientRequest;
  /** Whether there is an answer, or none will come. */
  isOver: boolean;
  onAnswer: (answer: IncomingMessage) => void;
  onFailure: (error: Error) => void;
};

/** The way to the hub for requests that were admitted. */
export type WayToHub = {
  /** For connections to the hub; those of WebSockets are their own. */
  agent: HttpAgent;
  /**
   * Passes a request on and its answer back, both as streams. Resolves when the answer has begun. Throws HubFailure as long
   * as nothing of an answer was sent; later, the visitor's connection is closed.
   */
  passOn: (raw: IncomingMessage, response: ServerResponse, headers: OutgoingHttpHeaders) => Promise<IncomingMessage>;
};

/** Opens the way to a hub; httpxy carries the streams, and headers are ours in both directions. */
export function wayToHub({ url, answerWithin }: Hub): WayToHub {
  const agent = hubAgent(url);
  const passages = new WeakMap<IncomingMessage, Passage>();
  const proxy = createProxyServer({ target: url, agent, selfHandleResponse: true });
  proxy.on('proxyReq', (outgoing, raw) => {
    const passage = passages.get(raw);
    if (!passage) return;
    passage.outgoing = outgoing;
    // A body that the hub does not read would be the beginning of the next person's request.
    if (hasBody(raw)) outgoing.shouldKeepAlive = false;
    failIfSilent(outgoing, answerWithin);
    // An upgrade that nobody asked for ends a connection without an error.
    outgoing.once('close', () => {
      if (!passage.isOver) passage.onFailure(new HubFailure('broken', 'the hub closed the connection'));
    });
  });
  proxy.on('proxyRes', (answer, raw) => passages.get(raw)?.onAnswer(answer));
  proxy.on('error', (error, raw) => passages.get(raw as IncomingMessage)?.onFailure(error));

  return {
    agent,
    async passOn(raw, response, headers) {
      const answer = await answerTo(raw, response, headers).catch(async (error) => {
        if (!isLostConnection(error, raw)) throw error;
        return await answerTo(raw, response, headers);
      });
      sendAnswer(answer, response);
      return answer;
    },
  };

  function answerTo(raw: IncomingMessage, response: ServerResponse, headers: OutgoingHttpHeaders) {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const passage: Passage = {
      isOver: false,
      onAnswer(answer) {
        passage.isOver = true;
        resolve(answer);
      },
      onFailure(error) {
        passage.isOver = true;
        reject(asHubFailure(error, passage.outgoing?.reusedSocket ?? false));
      },
    };
    passages.set(raw, passage);
    const received = raw.headers;
    raw.headers = headers as IncomingMessage['headers'];
    try {
      // Reads the headers before it returns.
      proxy.web(raw, response, {}).catch(() => {});
    } finally {
      raw.headers = received;
    }
    return promise;
  }
}

/**
 * The name that the hub's certificate must have, if it is not an IP address: the Host of a request is the portal's, and says
 * nothing about it.
 */
export function serverNameOf({ hostname }: URL): string {
  return isIP(hostname.replace(/^\[|\]$/g, '')) === 0 ? hostname : '';
}

function hubAgent(url: URL): HttpAgent {
  const options = { keepAlive: true, maxFreeSockets: limits.hub.idleConnections };
  return url.protocol === 'https:'
    ? new HttpsAgent({ ...options, servername: serverNameOf(url) })
    : new HttpAgent(options);
}

/** Ends a request to the hub that connects too slowly, or that makes no progress for `answerWithin` before its answer. */
export function failIfSilent(outgoing: ClientRequest, answerWithin: number): void {
  const fail = () => outgoing.destroy(new HubFailure('silent', 'the hub did not answer in time'));
  const watch = (socket: Socket) => {
    if (!socket.connecting) return;
    const timer = setTimeout(fail, limits.hub.reach);
    for (const event of ['connect', 'close']) socket.once(event, () => clearTimeout(timer));
  };
  if (outgoing.socket) watch(outgoing.socket);
  else outgoing.once('socket', watch);
  outgoing.setTimeout(answerWithin, fail);
}

/** Errors of connections as failures of the hub. */
export function asHubFailure(error: Error, isReused = false): HubFailure {
  if (error instanceof HubFailure) return error;
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ETIMEDOUT') return new HubFailure('silent', error.message);
  const failure = new HubFailure('broken', code ? `${code}: ${error.message}` : error.message);
  if (isReused && (code === 'ECONNRESET' || code === 'EPIPE')) lost.add(failure);
  return failure;
}

const lost = new WeakSet<Error>();

/** Whether an idle connection was closed by the hub just as it was used: a request that changes nothing may go again. */
function isLostConnection(error: unknown, raw: IncomingMessage): boolean {
  return lost.has(error as Error) && (raw.method === 'GET' || raw.method === 'HEAD') && !hasBody(raw);
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}

/** Sends the hub's answer; throws HubFailure if it has a status or a header that cannot be sent. */
export function sendAnswer(answer: IncomingMessage, response: ServerResponse): void {
  const silence = isEvents(answer) ? limits.hub.silence : limits.hub.progress;
  try {
    response.writeHead(answer.statusCode ?? 0, answer.statusMessage, returnedHeaders(answer));
  } catch (error) {
    answer.destroy();
    // What the hub sent must not be in the way of the page that says so.
    response.statusMessage = '';
    for (const name of response.getHeaderNames()) response.removeHeader(name);
    throw new HubFailure('broken', (error as Error).message);
  }
  // Together with the first part of the body, if that is here; it may also be far away.
  const flush = setImmediate(() => response.flushHeaders());
  answer.once('data', () => clearImmediate(flush));
  answer.setTimeout(silence, () => answer.destroy());
  response.setTimeout(silence, () => response.destroy());
  answer.pipe(response);
}

/** Whether an answer is a stream of server-sent events, which may pause. */
export function isEvents({ headers }: IncomingMessage): boolean {
  return /^text\/event-stream\b/i.test(headers['content-type'] ?? '');
}
