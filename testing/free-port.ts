import { once } from 'node:events';
import { connect, createServer } from 'node:net';

/** A port of this machine that nothing listens on. */
export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  return typeof address === 'object' && address ? address.port : 0;
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
