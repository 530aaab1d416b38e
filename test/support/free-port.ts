import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';

/**
 * A port of this machine that nothing listens on. Below those that systems give to outgoing connections (Linux: from 32768 on),
 * one of which could take it before the test does.
 */
export async function freePort(): Promise<number> {
  const port = randomInt(10_000, 32_768);
  const probe = createServer().listen(port, '127.0.0.1');
  const isFree = await once(probe, 'listening').then(
    () => true,
    () => false,
  );
  probe.close();
  return isFree ? port : await freePort();
}

/** Whether something on this machine listens on a port. */
export async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  const answered = await Promise.race([once(socket, 'connect'), once(socket, 'error')]).then(
    () => true,
    () => false,
  );
  socket.destroy();
  return answered;
}
