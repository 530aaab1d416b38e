import { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { limits } from '../limits.ts';
import { databaseSocket, type Where } from './database-socket.ts';
import { type ServerState, stateOf } from './server-state.ts';

/**
 * The sockets of new connections to whichever of several servers is the primary: after a failover it is another one. Those
 * that lead elsewhere by then are ended: nobody tells of a machine that fell silent. postgres.js could choose, too, but takes
 * a standby for one and, if no server answers, asks again without a pause.
 */
export function primarySocket(addresses: readonly string[]): (where: Where) => Promise<Socket> {
  const open = new Map<Socket, string>();
  let newest = 0;
  let asked: Promise<Found> | null = null;
  let watching: NodeJS.Timeout | undefined;

  async function find(): Promise<Found> {
    const states = await askAll(addresses);
    const primary = primaryOf(states, newest);
    if (primary) newest = primary.timeline;
    for (const [socket, address] of open) {
      if (primary && address !== primary.address)
        socket.destroy(withCode('ECONNRESET', 'the server is the primary no longer'));
    }
    return { states, primary };
  }
  // Those that ask at the same time ask once.
  const findOnce = () => {
    asked ??= find().finally(() => {
      asked = null;
    });
    return asked;
  };

  return async (where) => {
    const { states, primary } = await findOnce();
    if (!primary) return failingSocket(states);
    const socket = socketTo(primary.address, where);
    open.set(socket, primary.address);
    watching ??= setInterval(findOnce, limits.primaryAskedEvery).unref();
    socket.once('close', () => {
      open.delete(socket);
      if (open.size > 0) return;
      clearInterval(watching);
      watching = undefined;
    });
    return socket;
  };
}

type Primary = ServerState & { role: 'primary' };
type Found = { states: ServerState[]; primary: Primary | null };

/**
 * The primary, of two the one that was promoted last; null without one, if that cannot be told, or if a newer one than
 * all of them was seen before (`newest`: its timeline).
 */
export function primaryOf(states: readonly ServerState[], newest = 0): Primary | null {
  const primaries = states.filter((state): state is Primary => state.role === 'primary');
  const [last, before] = primaries.toSorted((one, other) => other.timeline - one.timeline);
  return last && last.timeline >= newest && last.timeline !== before?.timeline ? last : null;
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
  const words = states.map((state) => {
    const said = state.role === 'away' ? state.problem : state.role;
    return `${new URL(state.address).host}: ${said}`;
  });
  const socket = new Socket();
  // postgres.js writes in the first immediate; what it had not written by the end would be in its way from then on.
  socket.write = () => true;
  const error = withCode('ECONNREFUSED', `no server is the primary (${words.join('; ')})`);
  setImmediate(() => setImmediate(() => socket.destroy(error)));
  return socket;
}

function withCode(code: string, words: string): Error {
  return Object.assign(new Error(words), { code });
}
