import { type IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { phraseOf, problemText, problemType } from './refuse.ts';

type Headers = Record<string, string>;

const statusOfCode: Record<string, number> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  HPE_HEADER_OVERFLOW: 431,
};

declare module 'node:net' {
  interface Socket {
    /** The request on this connection may take any time to arrive: Node has one limit for all. */
    mayTakeTime?: boolean;
  }
}

/**
 * Answers what Node's HTTP parser refuses, for Fastify's clientErrorHandler, then closes the connection, since the start of
 * the next request is unknown: by a short problem document, but to somebody with too many cookies, who may be a person, by
 * a page.
 */
export function unreadableRequest(headers: Headers, tooManyHeaders: (packet: string) => string) {
  return function answer(error: { code?: string; rawPacket?: unknown }, socket: Socket): void {
    if (error.code === 'ECONNRESET' || socket.destroyed) return;
    // Node reports a late request once, and reads on.
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && socket.mayTakeTime) return;
    const beingAnswered = (socket as { _httpMessage?: ServerResponse | null })._httpMessage;
    const status = statusOfCode[error.code ?? ''] ?? 400;
    if (beingAnswered?.headersSent) socket.destroy();
    else if (status !== 431) answerAndClose(socket, status, headers);
    else answerAndClose(socket, status, headers, 'text/html; charset=utf-8', tooManyHeaders(String(error.rawPacket)));
  };
}

function answerAndClose(
  socket: Socket,
  status: number,
  headers: Headers,
  type = problemType,
  body = problemText(status),
): void {
  const fields = {
    ...headers,
    date: new Date().toUTCString(),
    connection: 'close',
    'content-type': type,
    'content-length': String(Buffer.byteLength(body)),
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}`);
  if (socket.writable) socket.write(`HTTP/1.1 ${status} ${phraseOf(status)}\r\n${lines.join('\r\n')}\r\n\r\n${body}`);
  // Not at once: the answer is still being sent.
  socket.destroySoon();
}

declare module 'node:http' {
  interface IncomingMessage {
    /** Of the handshake of a WebSocket: what its connection has sent after it. */
    handshakeHead?: Buffer;
    /** As it was sent; `url` is as the router can decode it. */
    originalUrl?: string;
  }
}

/**
 * Whether a request asks for a WebSocket, which has no body (RFC 6455 §4.1). Every other upgrade, h2c too, is ignored (RFC
 * 9110 §7.8).
 */
export function asksForWebSocket(raw: IncomingMessage): boolean {
  return raw.method === 'GET' && !hasBody(raw) && raw.headers.upgrade?.toLowerCase() === 'websocket';
}

/** Has handshakes answered by the same routes, and after the same guards, as every request. */
export function routeHandshakes(app: FastifyInstance): void {
  (app.server as Server).on('upgrade', (raw: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => socket.destroy());
    const response = new ServerResponse(raw);
    response.shouldKeepAlive = false;
    try {
      response.assignSocket(socket as Socket);
    } catch {
      // Sent before the answer to another request on this connection, which no WebSocket client does.
      socket.destroy();
      return;
    }
    response.on('finish', () => {
      if (response.socket) socket.end(() => socket.destroy());
    });
    // Node before 24.9 hands over every upgrade.
    if (asksForWebSocket(raw)) raw.handshakeHead = head;
    app.routing(raw, response);
  });
}

export function hasBody({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}
