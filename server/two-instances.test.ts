import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { addCustomer, addUser } from '#testing/accounts-for-test.ts';
import { type ConstantLoad, constantLoad } from '#testing/constant-load.ts';
import { cuttableDatabase } from '#testing/cuttable-database.ts';
import { freePort } from '#testing/free-port.ts';
import { type PortalForTest, testPassword } from '#testing/portal-for-test.ts';
import { type PortalProcess, portalProcess } from '#testing/portal-process.ts';
import { startProxy } from '#testing/proxy-for-test.ts';
import { quickFolder } from '#testing/quick-folder.ts';
import { runVestibule } from '#testing/run-vestibule.ts';
import { clusterFolder } from './embedded/cluster.ts';
import { openEmbedded } from './embedded/embedded.ts';
import { findPostgresProcess } from './embedded/process.ts';
import { limits } from './limits.ts';
import { connect } from './storage/connect.ts';
import { migrate } from './storage/migrate.ts';

// Two instances behind nginx on one PostgreSQL, as processes, while people sign in, sign out and use the hub.
const usernames = Array.from({ length: 12 }, (_, index) => `user-${index}`);
/** What nginx tells an instance, which the last tests ask directly. */
const fromVisitor = { 'x-forwarded-for': '198.51.100.7' };
const closers: (() => Promise<unknown>)[] = [];
const instances: PortalProcess[] = [];
let load: ConstantLoad;
let start: (index: number) => Promise<void>;
let command: (...args: string[]) => Promise<unknown>;
let restartDatabase: () => Promise<void>;

beforeAll(async () => {
  const folder = await mkdtemp(join(quickFolder, 'vestibule-instances-'));
  closers.unshift(() => rm(folder, { recursive: true, force: true }));
  const embedded = await openEmbedded({ dataFolder: folder, log: { info() {}, warn() {} } });
  closers.unshift(() => embedded.close());
  const sql = connect(embedded.place);
  const wire = await cuttableDatabase({ sql, place: embedded.place, close: () => sql.end() });
  closers.unshift(
    () => wire.close(),
    () => sql.end({ timeout: 1 }),
  );
  restartDatabase = async () => {
    process.kill((await findPostgresProcess(clusterFolder(folder))) ?? 0, 'SIGINT');
    await expect
      .poll(() =>
        sql`select`.then(
          () => 'there',
          () => 'away',
        ),
      )
      .toBe('away');
    await expect
      .poll(
        () =>
          sql`select`.then(
            () => 'there',
            () => 'away',
          ),
        { timeout: 60_000 },
      )
      .toBe('there');
  };
  await migrate(sql);
  await addCustomer({ sql } as PortalForTest, 'acme');
  for (const username of usernames) await addUser({ sql } as PortalForTest, { username });

  const port = await freePort();
  const ports = [await freePort(), await freePort()];
  const hub = createServer((_request, response) => response.end()).listen(0, '127.0.0.1');
  await once(hub, 'listening');
  closers.unshift(async () => hub.close());
  const hubPort = (hub.address() as AddressInfo).port;
  const configFile = join(folder, 'vestibule.config.json');
  const allowedHosts = ports.map((port) => `localhost:${port}`);
  await writeFile(
    configFile,
    JSON.stringify({
      trustedProxies: ['127.0.0.1'],
      allowedHosts,
      hub: { url: `http://127.0.0.1:${hubPort}`, audiences: [{ name: 'crm' }] },
    }),
  );
  const env = { PUBLIC_URL: `http://localhost:${port}`, VESTIBULE_DATA: folder, VESTIBULE_CONFIG: configFile };
  start = async (index) => {
    instances[index] = await portalProcess(wire.url, { env: { ...env, PORT: String(ports[index]) } });
  };
  closers.unshift(async () => {
    for (const { child } of instances) child.kill('SIGKILL');
  });
  await Promise.all([start(0), start(1)]);
  const secret = { DATABASE_URL: wire.url, VESTIBULE_SECRET: 'x'.repeat(43) };
  command = async (...args) =>
    expect(await runVestibule(args, { env: { ...env, ...secret } })).toMatchObject({ code: 0 });
  const [portal = 0, secondPortal = 0] = ports;
  const nginx = await startProxy('nginx', { port, portal, secondPortal, hub: hubPort });
  closers.unshift(() => nginx.close());
  load = constantLoad(env.PUBLIC_URL, { usernames, password: testPassword });
  closers.unshift(() => load.stop());
  await load.wellAgain();
}, 180_000);
afterAll(async () => {
  for (const close of closers) await close();
});

/** What was refused or lost since the load was last told to begin. */
function unanswered(): { refused: number; lost: Record<string, number> } {
  const kinds = Object.entries(load.counts);
  const lost = kinds.flatMap(([kind, count]) => Object.entries(count.lost).map(([how, n]) => [`${kind} ${how}`, n]));
  return { refused: kinds.reduce((sum, [, { refused }]) => sum + refused, 0), lost: Object.fromEntries(lost) };
}

it('both are rolled, twice, and every request is answered well', async () => {
  load.begin();
  for (const index of [0, 1, 0, 1]) {
    instances[index]?.child.kill('SIGTERM');
    expect(await instances[index]?.exit).toEqual({ code: 0, signal: null });
    await start(index);
    await load.wellAgain();
  }
  expect(unanswered()).toEqual({ refused: 0, lost: {} });
  // Four starts, on a busy machine.
}, 240_000);

it('one is killed: at most the requests it was working on are lost, and nothing after them', async () => {
  load.begin();
  instances[0]?.child.kill('SIGKILL');
  await instances[0]?.exit;
  await load.wellAgain();
  const { lost, refused } = unanswered();
  expect(Object.keys(lost).filter((what) => !what.endsWith(' 502'))).toEqual([]);
  // Each connection of the load waits for one answer. nginx asks the other instance for what is not a POST, unless it has
  // done so already; for the hub it answers 503.
  expect(Object.values(lost).reduce((sum, count) => sum + count, refused)).toBeLessThanOrEqual(9);

  load.begin();
  await pause(1000);
  await start(0);
  await load.wellAgain();
  expect(unanswered()).toEqual({ refused: 0, lost: {} });
});

it('PostgreSQL is restarted: requests are refused until it is back, and answered well within 5 s of that', async () => {
  load.begin();
  await restartDatabase();
  expect(await load.wellAgain()).toBeLessThan(5000);
  const { lost, refused } = unanswered();
  expect(lost).toEqual({});
  expect(refused).toBeGreaterThan(0);
});

it('after all that, each acknowledged sign-in and sign-out is what it was', async () => {
  await load.stop();
  expect(load.sessions.size).toBeGreaterThan(20);
  expect(load.ended.size).toBeGreaterThan(10);
  // So many at once, so soon after the restart, some may still be refused: these ask again.
  const statusOf = async (cookie: string, index: number): Promise<number> => {
    const headers = { ...fromVisitor, cookie };
    const { status } = await fetch(`${instances[index % 2]?.origin}/portal/session`, { headers });
    if (status !== 503) return status;
    await pause(100);
    return await statusOf(cookie, index);
  };
  const statuses = async (cookies: Set<string>) => new Set(await Promise.all([...cookies].map(statusOf)));
  expect(await statuses(load.sessions)).toEqual(new Set([200]));
  expect(await statuses(load.ended)).toEqual(new Set([401]));
});

it('what is changed elsewhere, each instance knows at once, and new keys within a second', async () => {
  const cookie = [...load.sessions].at(-1) ?? '';
  const each = async (path: string) =>
    await Promise.all(
      instances.map(async ({ origin }) => await fetch(origin + path, { headers: { ...fromVisitor, cookie } })),
    );
  const statuses = async () => (await each('/portal/session')).map(({ status }) => status);
  const keys = async () => await Promise.all((await each('/.well-known/jwks.json')).map((answer) => answer.text()));
  expect(await statuses()).toEqual([200, 200]);
  const before = await keys();
  await command('customer', 'set', 'acme', '--allow-network', '203.0.113.0/24');
  await command('keys', 'roll', '--now');
  expect(await statuses()).toEqual([401, 401]);
  await pause(limits.hubKeysRemembered);
  const [one, other] = await keys();
  expect(one).toBe(other);
  expect(before).not.toContain(one);
});
