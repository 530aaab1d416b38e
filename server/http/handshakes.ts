import { type IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { FastifyInstance } from 'fastify';

declare module 'node:http' {
  interface IncomingMessage {
    /** Of the handshake of a WebSocket: what its connection has sent after it. */
    handshakeHead?: Buffer;
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
