import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { connect } from '#server/database/connect.ts';
import type { Database } from '#server/database/database.ts';
import { clusterFolder } from '#server/database/embedded/cluster.ts';
import { openEmbedded } from '#server/database/embedded/embedded.ts';
import { migrate } from '#server/database/migrate.ts';
import { addCustomer, addUser } from './accounts-for-test.ts';
import { type ConstantLoad, constantLoad } from './constant-load.ts';
import { type CuttableDatabase, cuttableDatabase } from './cuttable-database.ts';
import { freePort } from './free-port.ts';
import { type PortalForTest, testPassword } from './portal-for-test.ts';
import { startProxy } from './proxy-for-test.ts';
import { quickFolder } from './quick-folder.ts';
import { type PortalProcess, portalProcess } from './run-vestibule.ts';

/** Two instances behind nginx, as processes, while people sign in, sign out and use the hub. */
export type TwoPortals = {
  instances: PortalProcess[];
  /** Starts an instance anew; `preload` is more of a module's source that runs in it first. */
  start: (index: number, preload?: string) => Promise<void>;
  load: ConstantLoad;
  /** The database, beside the instances' own line to it. */
  sql: Database;
  /** What commands and instances are told by their environment. */
  env: Record<string, string>;
  close: () => Promise<void>;
};

/** Two instances on one PostgreSQL of their own. */
export type TwoPortalsOnOne = TwoPortals & {
  /** The line between both instances and PostgreSQL. */
  wire: CuttableDatabase;
  /** PostgreSQL's own folder; whenever its process ends, it is started again. */
  cluster: string;
};

const silent = { info() {}, warn() {} };

/** What nginx tells an instance, for who asks one directly. */
export const fromVisitor = { 'x-forwarded-for': '198.51.100.7' };

type Where = {
  /** The folder for a folder with all files; that of quick tests by default. */
  where?: string;
  env?: Record<string, string>;
  /** How many people the load signs in; each keeps a hundred sessions at most. */
  users?: number;
  /** A module's source that runs in each instance first. */
  preload?: string;
};

/** Starts all; if a part does not start, what did is closed. */
export async function twoPortals({ where = quickFolder, ...how }: Where = {}): Promise<TwoPortalsOnOne> {
  return await startOrClose(where, async ({ folder, closers }) => {
    const embedded = await openEmbedded({ dataFolder: folder, log: silent });
    closers.unshift(() => embedded.close());
    const sql = connect(embedded.place);
    closers.unshift(() => sql.end());
    const wire = await cuttableDatabase({ sql, place: embedded.place, close: () => sql.end() });
    closers.unshift(() => wire.close());
    const portals = await start({ folder, closers, ...how, sql, databaseUrl: wire.url });
    return { ...portals, wire, cluster: clusterFolder(folder) };
  });
}

/** Starts them on an empty database of somebody else's; if a part does not start, what did is closed. */
export async function twoPortalsOn(
  databaseUrl: string,
  { where = quickFolder, ...how }: Where = {},
): Promise<TwoPortals> {
  return await startOrClose(where, async ({ folder, closers }) => {
    const sql = connect({ url: databaseUrl });
    closers.unshift(() => sql.end());
    return await start({ folder, closers, ...how, sql, databaseUrl });
  });
}

type Begun = { folder: string; closers: (() => unknown)[] };

async function startOrClose<T>(
  where: string,
  work: (begun: Begun) => Promise<T>,
): Promise<T & { close: () => Promise<void> }> {
  const folder = await mkdtemp(join(where, 'vestibule-instances-'));
  const closers: (() => unknown)[] = [() => rm(folder, { recursive: true, force: true })];
  const close = async () => {
    for (const closer of closers.splice(0)) await closer();
  };
  try {
    return { ...(await work({ folder, closers })), close };
  } catch (error) {
    await close();
    throw error;
  }
}

type Beginning = Begun & Omit<Where, 'where'> & { sql: Database; databaseUrl: string };

async function start({
  folder,
  closers,
  env: more = {},
  preload: first = '',
  users = 12,
  sql,
  databaseUrl,
}: Beginning): Promise<Omit<TwoPortals, 'close'>> {
  await migrate(sql);
  await addCustomer({ sql } as PortalForTest, 'acme');
  const usernames = Array.from({ length: users }, (_, index) => `user-${index}`);
  for (const username of usernames) await addUser({ sql } as PortalForTest, { username });

  const hub = createServer((_request, response) => response.end()).listen(0, '127.0.0.1');
  await once(hub, 'listening');
  closers.unshift(() => hub.close());
  const hubPort = (hub.address() as AddressInfo).port;
  const port = await freePort();
  const ports = [await freePort(), await freePort()];
  const configFile = join(folder, 'vestibule.config.json');
  const config = {
    trustedProxies: ['127.0.0.1'],
    allowedHosts: ports.map((port) => `localhost:${port}`),
    hub: { url: `http://127.0.0.1:${hubPort}`, audiences: [{ name: 'crm' }] },
  };
  await writeFile(configFile, JSON.stringify(config));
  const env = {
    PUBLIC_URL: `http://localhost:${port}`,
    VESTIBULE_DATA: folder,
    VESTIBULE_CONFIG: configFile,
    ...more,
  };
  const instances: PortalProcess[] = [];
  const startInstance = async (index: number, preload = '') => {
    const how = { preload: first + preload, env: { ...env, PORT: String(ports[index]) } };
    instances[index] = await portalProcess(databaseUrl, how);
  };
  closers.unshift(() => {
    for (const { child } of instances) child.kill('SIGKILL');
  });
  await Promise.all([startInstance(0), startInstance(1)]);
  const [portal = 0, secondPortal = 0] = ports;
  const nginx = await startProxy('nginx', { port, portal, secondPortal, hub: hubPort });
  closers.unshift(() => nginx.close());
  const load = constantLoad(env.PUBLIC_URL, { usernames, password: testPassword });
  closers.unshift(() => load.stop());
  await load.wellAgain();
  return { instances, start: startInstance, load, sql, env };
}

/** How many sessions are asked for at a time. */
const lanes = 16;

/** What the instances, in turn, answer to these sessions: each status once. Whoever is refused for now asks again. */
export async function statusesOf({ instances }: TwoPortals, sessions: ReadonlySet<string>): Promise<Set<number>> {
  const statuses = new Set<number>();
  const waiting = [...sessions];
  const ask = async () => {
    for (let cookie = waiting.pop(); cookie !== undefined; cookie = waiting.pop()) {
      const { origin } = instances[waiting.length % 2] as PortalProcess;
      const { status } = await fetch(`${origin}/portal/session`, { headers: { ...fromVisitor, cookie } });
      if (status !== 503) {
        statuses.add(status);
        continue;
      }
      waiting.push(cookie);
      await pause(100);
    }
  };
  await Promise.all(Array.from({ length: lanes }, ask));
  return statuses;
}
