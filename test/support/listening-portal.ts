import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { PortalForTest } from './portal-for-test.ts';

/** A portal listening on its own port, for what only a socket can send. */
export type ListeningPortal = {
  /** The Host that the portal accepts. */
  host: string;
  open: () => Promise<Socket>;
  /** Sends bytes on one connection; returns what comes back until it is closed, or silent for `quiet` ms. */
  exchange: (bytes: string | Buffer, quiet?: number) => Promise<RawAnswer>;
};

export type RawAnswer = {
  text: string;
  /** The status of each answer, in order. */
  statuses: number[];
  /** Whether the portal closed the connection. */
  closed: boolean;
};

export async function listeningPortal({ app, deps }: PortalForTest): Promise<ListeningPortal> {
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;

  async function open(): Promise<Socket> {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    socket.on('error', () => {});
    return socket;
  }

  async function exchange(bytes: string | Buffer, quiet = 1500): Promise<RawAnswer> {
    const socket = await open();
    socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
    return await answerOn(socket, quiet);
  }

  return { host: deps.config.hosts[0] ?? '', open, exchange };
}

/** A busy machine takes this long, in ms, to begin an answer. */
const patience = 15_000;

/** Reads a connection until the portal closes it, or is silent for `quiet` ms after it has begun to answer. */
export async function answerOn(socket: Socket, quiet = 1500): Promise<RawAnswer> {
  const chunks: Buffer[] = [];
  const closed = await new Promise<boolean>((resolve) => {
    socket.setTimeout(patience, () => resolve(false));
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      socket.setTimeout(quiet);
    });
    socket.on('close', () => resolve(true));
  });
  socket.destroy();
  const text = Buffer.concat(chunks).toString('latin1');
  return { text, closed, statuses: [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status)) };
}
