import { once } from 'node:events';
import { type AddressInfo, connect as connectTo, createServer, type Socket } from 'node:net';
import { connect } from '#server/database/connect.ts';
import type { Database } from '#server/database/database.ts';
import type { DatabaseForTest } from './database-for-test.ts';

/** A database connection that a test can cut and restore. */
export type CuttableDatabase = {
  sql: Database;
  url: string;
  cut: () => void;
  /** Stops forwarding without closing anything, as a network that drops packets does. */
  silence: () => void;
  mend: () => void;
  close: () => Promise<void>;
};

/** Puts a proxy of our own between a pool and a database. */
export async function cuttableDatabase({ place }: DatabaseForTest): Promise<CuttableDatabase> {
  const sockets = new Set<Socket>();
  let isCut = false;
  const wire = createServer((client) => {
    if (isCut) {
      client.destroy();
      return;
    }
    const server =
      'url' in place
        ? connectTo(Number(new URL(place.url).port || 5432), new URL(place.url).hostname)
        : connectTo(place.path);
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => sockets.delete(socket));
    }
    client.pipe(server).pipe(client);
    client.on('close', () => server.destroy());
    server.on('close', () => client.destroy());
  }).listen(0, '127.0.0.1');
  await once(wire, 'listening');
  const { port } = wire.address() as AddressInfo;
  const url = new URL(
    'url' in place
      ? place.url
      : `postgres://${place.user}:${encodeURIComponent(place.password)}@localhost/${place.database}`,
  );
  url.hostname = '127.0.0.1';
  url.port = String(port);
  const sql = connect({ url: url.href });

  return {
    sql,
    url: url.href,
    cut: () => {
      isCut = true;
      for (const socket of sockets) socket.destroy();
    },
    silence: () => {
      for (const socket of sockets) socket.unpipe().pause();
    },
    mend: () => {
      isCut = false;
      for (const socket of sockets) socket.destroy();
    },
    close: async () => {
      await sql.end();
      for (const socket of sockets) socket.destroy();
      wire.close();
    },
  };
}
