import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { findPostgresProcess } from '#server/database/embedded/process.ts';
import type { Behaviour } from '#test/support/mail-for-test.ts';
import type { TwoPortals } from '#test/support/two-portals.ts';
import { formHeaders, formOf } from '../people.ts';
import { askForReset } from './measure-fault.ts';
import type { Fault, World } from './world.ts';

/** Each connection of the load waits for one answer at most; beside it are those who change passwords, and two visitors. */
const connections = 12;
const nothing = () => {};

/** PostgreSQL's first process ends the others, and what keeps it running starts it again: the end of the fault. */
const endPostgres =
  (signal: NodeJS.Signals) =>
  async ({ portals: { cluster, sql } }: World) => {
    const started = async () => (await sql`select pg_postmaster_start_time() as at`)[0]?.at.getTime();
    const before = await started();
    await signalPostgres(cluster, signal);
    while ((await started().catch(() => before)) === before) await pause(10);
    return nothing;
  };

/** Somebody asks for a reset meanwhile; whether each of them gets one email is looked at in the end. */
const mail = (name: string, username: string, behaviour: Behaviour | 'away'): Fault => ({
  name: `the mail server ${name} for 10 s`,
  lasts: 10_000,
  mayLose: 0,
  begin: async ({ portals, mailServer, askedMails }) => {
    if (behaviour === 'away') await mailServer.shut();
    else mailServer.behave(behaviour);
    await askForReset(portals, username, askedMails);
    return () => (behaviour === 'away' ? mailServer.reopen() : mailServer.behave('well'));
  },
});

/** How long the instances have what they have read of the provider before. */
const before = 10_000;

/** An instance that has just started has to ask the provider for its addresses first. */
const providerFaults: readonly Fault[] = [
  {
    name: 'an identity provider silent to the portal for 20 s',
    lasts: 10_000,
    mayLose: 0,
    sparesPasswords: true,
    begin: async ({ portals, provider }) => {
      provider.answerPortal(false);
      await pause(before);
      for (const index of [0, 1]) await roll(portals, index);
      return () => provider.answerPortal(true);
    },
  },
  {
    name: 'an identity provider away for 10 s',
    lasts: 10_000,
    mayLose: 0,
    sparesPasswords: true,
    begin: async ({ portals, provider }) => {
      for (const index of [0, 1]) await roll(portals, index);
      await provider.shut();
      return provider.reopen;
    },
  },
];

export const faults: readonly Fault[] = [
  {
    name: 'both instances rolled',
    lasts: 0,
    mayLose: 0,
    begin: async ({ portals }) => {
      await roll(portals, 0);
      await roll(portals, 1);
      return nothing;
    },
  },
  {
    name: 'an instance killed (kill -9)',
    lasts: 5000,
    mayLose: connections,
    begin: async ({ portals }) => {
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
    begin: async ({ portals: { wire } }) => {
      wire.cut();
      return wire.mend;
    },
  },
  {
    name: 'the line to PostgreSQL silent for 10 s',
    lasts: 10_000,
    mayLose: 0,
    begin: async ({ portals: { wire } }) => {
      wire.silence();
      return wire.mend;
    },
  },
  {
    name: 'PostgreSQL frozen (SIGSTOP) for 30 s',
    lasts: 30_000,
    mayLose: 0,
    begin: async ({ portals: { cluster } }) => {
      await signalPostgres(cluster, 'SIGSTOP', 'all');
      return () => signalPostgres(cluster, 'SIGCONT', 'all');
    },
  },
  {
    name: 'PostgreSQL’s disk full for 10 s',
    lasts: 10_000,
    mayLose: 0,
    begin: async ({ disk }) => {
      await disk.fill();
      return disk.empty;
    },
  },
  mail('away', 'user-0', 'away'),
  mail('slow', 'user-1', 'never-greet'),
  mail('refusing', 'user-2', { at: 'rcpt', code: 451, words: '4.3.0 not now' }),
  ...providerFaults,
  {
    name: '5,000 requests that never end, at each instance',
    lasts: 10_000,
    mayLose: 0,
    begin: async ({ portals: { instances } }) => {
      const open = await Promise.all(instances.map(({ origin }) => halfRequests(new URL(origin), 5000)));
      return () => {
        for (const socket of open.flat()) socket.destroy();
      };
    },
  },
  {
    name: 'a flood of wrong passwords, from 50 addresses',
    lasts: 10_000,
    mayLose: 0,
    begin: async ({ portals }) => {
      const flood = { isOver: false };
      const guess = async (index: number) => {
        while (!flood.isOver) await guessFrom(`127.0.1.${index}`, `${portals.env.PUBLIC_URL}/portal/performlogin`);
      };
      const guesses = Array.from({ length: 50 }, (_, index) => guess(index));
      return async () => {
        flood.isOver = true;
        await Promise.all(guesses);
      };
    },
  },
];

/** Tries a wrong password, from an address of its own: those who sign in have another. */
async function guessFrom(localAddress: string, url: string): Promise<void> {
  const sent = request(url, { method: 'POST', localAddress, agent: false, headers: formHeaders });
  sent.end(formOf('nobody', 'wrong'));
  await once(sent, 'response').then(
    ([answer]) => answer.resume(),
    () => pause(10),
  );
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

/** Stops an instance as an upgrade does, and starts it anew; `preload` is a module's source that runs in it first. */
export async function roll(portals: TwoPortals, index: number, preload?: string): Promise<void> {
  portals.instances[index]?.child.kill('SIGTERM');
  await portals.instances[index]?.exit;
  await portals.start(index, preload);
}

/** Sends a signal to PostgreSQL's first process, or to all of them. */
async function signalPostgres(cluster: string, signal: NodeJS.Signals, whom: 'first' | 'all' = 'first'): Promise<void> {
  const first = await findPostgresProcess(cluster);
  if (first === null) throw new Error('PostgreSQL is not running');
  for (const pid of whom === 'first' ? [first] : [first, ...childrenOf(first)]) process.kill(pid, signal);
}

function childrenOf(parent: number): number[] {
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return all.map(Number).filter((pid) => parentOf(pid) === parent);
}

/** Null if the process has ended meanwhile. */
function parentOf(pid: number): number | null {
  try {
    // The name before it, in parentheses, may hold anything.
    const [, parent] = /^.*\) \S (\d+)/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
    return Number(parent);
  } catch {
    return null;
  }
}
