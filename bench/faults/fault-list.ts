import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { TwoPortals } from '#testing/two-portals.ts';
import { postSignIn } from '../sign-in-form.ts';
import type { FullDisk } from './full-disk.ts';
import { signalPostgres } from './postgres-processes.ts';

/**
 * What is done to two instances under load. `begin` returns what ends it, which is done `lasts` milliseconds later.
 * `mayLose` is how many requests may get no answer or a wrong one; all others are answered well or refused honestly.
 */
export type Fault = {
  name: string;
  lasts: number;
  mayLose: number;
  begin: (portals: TwoPortals, disk: FullDisk) => Promise<() => unknown>;
};

/** Each connection of the load waits for one answer at most. */
const connections = 9;
const nothing = () => {};

/** PostgreSQL's first process ends the others, and what keeps it running starts it again: the end of the fault. */
const endPostgres =
  (signal: NodeJS.Signals) =>
  async ({ cluster, sql }: TwoPortals) => {
    const started = async () => (await sql`select pg_postmaster_start_time() as at`)[0]?.at.getTime();
    const before = await started();
    await signalPostgres(cluster, signal);
    while ((await started().catch(() => before)) === before) await pause(10);
    return nothing;
  };

const clock = (name: string, offset: number): Fault => ({
  name: `the clock of one instance is ${name}`,
  lasts: 3000,
  mayLose: 0,
  begin: async (portals) => {
    await roll(portals, 1, `const { now } = Date; Date.now = () => now() + ${offset};`);
    return () => roll(portals, 1);
  },
});

export const faults: readonly Fault[] = [
  {
    name: 'both instances rolled',
    lasts: 0,
    mayLose: 0,
    begin: async (portals) => {
      await roll(portals, 0);
      await roll(portals, 1);
      return nothing;
    },
  },
  {
    name: 'an instance killed (kill -9)',
    lasts: 5000,
    mayLose: connections,
    begin: async (portals) => {
      portals.instances[0]?.child.kill('SIGKILL');
      return () => portals.start(0);
    },
  },
  { name: 'PostgreSQL restarted', lasts: 0, mayLose: 0, begin: endPostgres('SIGINT') },
  { name: 'PostgreSQL killed (kill -9)', lasts: 0, mayLose: 0, begin: endPostgres('SIGKILL') },
  {
    name: 'connections to PostgreSQL cut for 10 s',
    lasts: 10_000,
    mayLose: 0,
    begin: async ({ wire }) => {
      wire.cut();
      return wire.mend;
    },
  },
  {
    name: 'the line to PostgreSQL silent for 10 s',
    lasts: 10_000,
    mayLose: 0,
    begin: async ({ wire }) => {
      wire.silence();
      return wire.mend;
    },
  },
  {
    name: 'PostgreSQL frozen (SIGSTOP) for 30 s',
    lasts: 30_000,
    mayLose: 0,
    begin: async ({ cluster }) => {
      await signalPostgres(cluster, 'SIGSTOP', 'all');
      return () => signalPostgres(cluster, 'SIGCONT', 'all');
    },
  },
  {
    name: 'PostgreSQL’s disk full for 10 s',
    lasts: 10_000,
    mayLose: 0,
    begin: async (_portals, disk) => {
      await disk.fill();
      return disk.empty;
    },
  },
  clock('5 minutes fast', 5 * 60_000),
  clock('5 minutes slow', -5 * 60_000),
  {
    name: '5,000 requests that never end, at each instance',
    lasts: 10_000,
    mayLose: 0,
    begin: async ({ instances }) => {
      const open = await Promise.all(instances.map(({ origin }) => halfRequests(new URL(origin), 5000)));
      return () => {
        for (const socket of open.flat()) socket.destroy();
      };
    },
  },
  {
    name: 'a flood of wrong passwords',
    lasts: 10_000,
    mayLose: 0,
    begin: async ({ env: { PUBLIC_URL = '' } }) => {
      const flood = { isOver: false };
      const guess = async (index: number) => {
        while (!flood.isOver) await postSignIn(PUBLIC_URL, `nobody-${index}`, 'wrong').catch(() => pause(10));
      };
      const guesses = Array.from({ length: 50 }, (_, index) => guess(index));
      return async () => {
        flood.isOver = true;
        await Promise.all(guesses);
      };
    },
  },
];

async function roll(portals: TwoPortals, index: number, preload?: string): Promise<void> {
  portals.instances[index]?.child.kill('SIGTERM');
  await portals.instances[index]?.exit;
  await portals.start(index, preload);
}

async function halfRequests({ hostname, port }: URL, count: number): Promise<Socket[]> {
  const sockets: Socket[] = [];
  for (let opened = 0; opened < count; opened += 100) {
    const some = Array.from({ length: 100 }, () => connect(Number(port), hostname).on('error', nothing));
    await Promise.all(some.map((socket) => Promise.race([once(socket, 'connect'), once(socket, 'close')])));
    for (const socket of some) socket.write(`GET /portal/session HTTP/1.1\r\nHost: ${hostname}:${port}\r\nX-Half:`);
    sockets.push(...some);
  }
  return sockets;
}
