import { Socket } from 'node:net';

/** The settings of a pool that say where PostgreSQL is. */
export type Where = { path?: string | false; host: string[]; port: number[]; sslnegotiation?: string | null };

/** The codes of the messages that begin a connection: protocol 3.0, and requests for TLS or to cancel (PostgreSQL, §54.7). */
const firstCodes = [196_608, 80_877_103, 80_877_102];

/**
 * The socket of a new connection to PostgreSQL, which corrects two faults of postgres.js 3.4.9:
 * - A connection that is accepted and closed at once, as by a proxy whose server is down, becomes an error; postgres.js
 *   would retry at once and forever, and the request would hang.
 * - If a connection is lost while something was still to be sent, postgres.js keeps that and waits for a timer that it has
 *   stopped, so nothing is sent on the next one either, and every statement on it ends in CONNECT_TIMEOUT. Once 1,024
 *   bytes have gathered it sends at once. So a socket on which nothing is written is closed, unused, until that happens,
 *   and of what is then written only the beginning of a connection is sent.
 */
export function databaseSocket({ path, host: [host = ''], port: [port = 0], sslnegotiation }: Where): Socket {
  const socket = new Socket();
  const connect = () => (path ? socket.connect(path) : socket.connect(port, host));
  // TLS without a request for it begins by itself.
  let isUsed = sslnegotiation === 'direct';
  if (isUsed) connect();
  else {
    const write = socket.write.bind(socket) as (...args: unknown[]) => boolean;
    socket.write = ((bytes: Buffer, ...rest: unknown[]) => {
      isUsed = true;
      Reflect.deleteProperty(socket, 'write');
      connect();
      return write(firstMessage(bytes), ...rest);
    }) as typeof socket.write;
    // postgres.js writes in the first immediate after it gets the socket.
    setImmediate(() => setImmediate(() => isUsed || socket.destroy()));
  }
  socket.once('close', (hadError) => {
    if (hadError || !isUsed || socket.bytesRead > 0) return;
    socket.emit(
      'error',
      Object.assign(new Error('the database closed the connection unanswered'), { code: 'ECONNRESET' }),
    );
  });
  // postgres.js takes the TLS server name from here.
  return Object.assign(socket, { host, port });
}

/** The message at the end of what is written that begins a connection: its length, four bytes, then its code. */
function firstMessage(bytes: Buffer): Buffer {
  for (let start = bytes.length - 8; start >= 0; start -= 1) {
    const isWhole = bytes.readInt32BE(start) === bytes.length - start;
    if (isWhole && firstCodes.includes(bytes.readInt32BE(start + 4))) return bytes.subarray(start);
  }
  throw new Error('postgres.js began a connection in an unknown way');
}
