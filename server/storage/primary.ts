import { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { limits } from '../limits.ts';
import { databaseSocket, type Where } from './database-socket.ts';
import { type ServerState, stateOf } from './server-state.ts';

/**
 * The sockets of new connections to whichever of several servers is the primary: after a failover it is another one.
 * postgres.js could choose, too, but takes a standby for one and, if no server answers, asks again without a pause.
 */
export function primarySocket(addresses: readonly string[]): (where: Where) => Promise<Socket> {
  let asked: Promise<ServerState[]> | null = null;
  return async (where) => {
    // Connections that begin together ask once.
    asked ??= askAll(addresses).finally(() => {
      asked = null;
    });
    const states = await asked;
    const primary = primaryOf(states);
    return primary ? socketTo(primary, where) : failingSocket(states);
  };
}

/** The primary's address; of two, that of the one promoted last. Null without one. */
export function primaryOf(states: readonly ServerState[]): string | null {
  const primaries = states.filter((state) => state.role === 'primary');
  return primaries.toSorted((one, other) => other.timeline - one.timeline)[0]?.address ?? null;
}

/** What they say, asked at once; one that is silent keeps nobody waiting for long once there is a primary. */
export async function askAll(addresses: readonly string[]): Promise<ServerState[]> {
  const states: ServerState[] = [];
  const { promise: found, resolve } = Promise.withResolvers<void>();
  const asking = addresses.map(async (address) => {
    const state = await stateOf(address);
    states.push(state);
    if (state.role === 'primary') resolve();
  });
  await Promise.race([Promise.all(asking), found.then(() => pause(limits.otherServersMaySay))]);
  return [...states];
}

function socketTo(address: string, where: Where): Socket {
  const { hostname, port } = new URL(address);
  return databaseSocket({ ...where, host: [hostname.replace(/^\[|\]$/g, '')], port: [Number(port || 5432)] });
}

/** A socket that ends in an error, which counts as the database being down. */
function failingSocket(states: readonly ServerState[]): Socket {
  const words = states.map(
    (state) => `${new URL(state.address).host}: ${state.role === 'away' ? state.problem : state.role}`,
  );
  const error = Object.assign(new Error(`no server is the primary (${words.join('; ')})`), { code: 'ECONNREFUSED' });
  const socket = new Socket();
  // postgres.js writes in the first immediate; what it had not written by the end would be in its way from then on.
  socket.write = () => true;
  setImmediate(() => setImmediate(() => socket.destroy(error)));
  return socket;
}
