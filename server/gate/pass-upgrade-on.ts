import { request as httpRequest, type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { type Duplex, pipeline } from 'node:stream';
import type { Hub } from '../config/hub.ts';
import { limits } from '../limits.ts';
import { asHubFailure, failIfSilent, HubFailure, sendAnswer, serverNameOf } from './pass-on.ts';
import { returnedHeaders } from './returned-headers.ts';

/** A visitor's handshake for a WebSocket, with what its connection has sent after it. */
export type Handshake = { raw: IncomingMessage; response: ServerResponse; head: Buffer };

/**
 * Passes a handshake on. Returns the visitor's connection once the hub has accepted, or null if it answered otherwise, and
 * the answer was sent. Throws HubFailure. httpxy would send the hub's headers as they are, and no page if the hub is down.
 */
export async function passUpgradeOn(
  { url, answerWithin }: Hub,
  { raw, response, head }: Handshake,
  headers: OutgoingHttpHeaders,
): Promise<Duplex | null> {
  const { socket } = raw;
  if (socket.destroyed) return null;
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
  const outgoing = send(url, { path: raw.url, headers, agent: false, servername: serverNameOf(url) } as object);
  failIfSilent(outgoing, answerWithin);
  const giveUp = () => outgoing.destroy();
  socket.once('close', giveUp);
  const { promise, resolve, reject } = Promise.withResolvers<Duplex | null>();
  outgoing.on('error', (error) => reject(asHubFailure(error)));
  outgoing.once('response', (answer) => {
    try {
      sendAnswer(answer, response);
      resolve(null);
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
    response.detachSocket(socket);
    socket.setTimeout(limits.hub.silence, () => socket.destroy());
    hubSocket.setTimeout(0);
    socket.write(switchingProtocols(answer));
    if (head.length > 0) hubSocket.write(head);
    if (hubHead.length > 0) socket.write(hubHead);
    const destroyBoth = () => {
      socket.destroy();
      hubSocket.destroy();
    };
    pipeline(socket, hubSocket, destroyBoth);
    pipeline(hubSocket, socket, destroyBoth);
    resolve(socket);
  });
  outgoing.end();
  return await promise;
}

function switchingProtocols(answer: IncomingMessage): string {
  const headers = returnedHeaders(answer);
  const lines = ['HTTP/1.1 101 Switching Protocols', 'Connection: Upgrade', 'Upgrade: websocket'];
  for (let index = 0; index < headers.length; index += 2) lines.push(`${headers[index]}: ${headers[index + 1]}`);
  return `${lines.join('\r\n')}\r\n\r\n`;
}
