import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { freePort } from '#test/support/free-port.ts';
import { quickFolder } from '#test/support/quick-folder.ts';
import { clusterFolder } from './database/embedded/cluster.ts';
import { findPostgresProcess } from './database/embedded/process.ts';

const root = fileURLToPath(new URL('../', import.meta.url));

let dataFolder: string;
let npm: ChildProcess;
let port: number;
let output: string;
beforeEach(async () => {
  dataFolder = await mkdtemp(join(quickFolder, 'vestibule-npm-'));
  port = await freePort();
  output = '';
  // Its own process group, like a terminal's job.
  npm = spawn('npm', ['start'], {
    cwd: root,
    detached: true,
    env: { PATH: process.env.PATH, HOME: dataFolder, PORT: String(port), VESTIBULE_DATA: dataFolder },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const stream of [npm.stdout, npm.stderr])
    stream?.on('data', (chunk: Buffer) => {
      output += chunk;
    });
  await expect.poll(() => output, { timeout: 60_000 }).toContain('Vestibule is ready at');
  expect(await findPostgresProcess(clusterFolder(dataFolder))).not.toBeNull();
}, 70_000);
afterEach(async () => {
  try {
    process.kill(-(npm.pid ?? 0), 'SIGKILL');
  } catch {
    // It has ended, as it should.
  }
  await expect.poll(async () => (await findPostgresProcess(clusterFolder(dataFolder))) === null).toBe(true);
  await rm(dataFolder, { recursive: true });
});

const isTaken = async () => {
  const socket = connect(port, '127.0.0.1');
  const taken = await once(socket, 'connect').then(
    () => true,
    () => false,
  );
  socket.destroy();
  return taken;
};

const signIn = async (from: number) => {
  const { status } = await fetch(`http://localhost:${port}/portal/performlogin`, {
    method: 'POST',
    body: new URLSearchParams({ username: `nobody${from}`, password: 'Lantern-Harbour-42' }),
    redirect: 'manual',
  });
  return status;
};

describe('npm start', () => {
  it.each([
    ['SIGTERM to npm alone', () => npm.kill('SIGTERM')],
    ['SIGINT to all, as by Ctrl-C', () => process.kill(-(npm.pid ?? 0), 'SIGINT')],
  ])(
    '%s lets the portal finish what is in progress, once, and leaves nothing behind',
    async (_, send) => {
      const underWay = Array.from({ length: 6 }, (_, index) => signIn(index));
      await Promise.race(underWay);
      const ended = once(npm, 'exit');
      send();
      expect(await Promise.all(underWay)).toEqual(Array(6).fill(303));
      expect(await ended).toEqual([0, null]);
      expect(output.match(/"stopping"/g)).toHaveLength(1);
      expect(await isTaken()).toBe(false);
      expect(await findPostgresProcess(clusterFolder(dataFolder))).toBeNull();
    },
    30_000,
  );
});
