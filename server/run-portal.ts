import type { Server } from 'node:http';
import { setImmediate as nextLoop, setTimeout as pause } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { buildApp } from './app.ts';
import { type Config, placeholderWarning } from './config/config.ts';
import { keysOf, secretsOfDataFolder } from './crypto/keys.ts';
import { makeDeskRole } from './database/desk-role.ts';
import { migrate } from './database/migrate.ts';
import type { Storage } from './database/open-storage.ts';
import type { DepsWithoutWake } from './deps.ts';
import { loadBuiltPages } from './http/built-pages.ts';
import { createPages } from './http/pages.ts';
import { hubsToTell, updateHubReceivers } from './hub/tell-hubs.ts';
import { limits } from './limits.ts';
import { openTransport } from './mail/transport.ts';
import { startHousekeeping } from './operations/housekeeping.ts';
import { createMetrics, noMetrics } from './operations/metrics.ts';
import { startWorkers } from './operations/workers.ts';

/** Runs the portal on an open database until the process is told to stop; closes the database then. */
export async function runPortal(config: Config, log: Logger, storage: Storage): Promise<void> {
  const { sql } = storage;
  const migrated = migrate(sql).catch((error) => Promise.reject(databaseProblem(error)));
  const [built] = await Promise.all([loadBuiltPages(config), migrated]).catch(async (error) => {
    // What still runs would keep the process.
    await storage.close();
    throw error;
  });
  if (!(await makeDeskRole(sql)))
    log.warn(`the desk is closed to administrators of customers: vestibule doctor says why`);
  await updateHubReceivers(
    sql,
    hubsToTell(config).map(({ name }) => name),
  );
  const now = () => new Date();
  const depsWithoutWake: DepsWithoutWake = {
    config,
    sql,
    pages: createPages({ config, built }),
    log,
    now,
    keys: keysOf(config.secrets ?? (await secretsOfDataFolder(config.dataFolder))),
    mails: openTransport(config, log),
    metrics: config.metricsToken === null ? noMetrics() : await createMetrics({ sql, now }),
    providers: new Map(),
    outage: { isDatabaseAway: false },
  };
  const workers = startWorkers(depsWithoutWake);
  const app = await buildApp({ ...depsWithoutWake, wake: workers.wake }, { built });
  let stopHousekeeping = () => {};
  const stopBeside = async () => {
    stopHousekeeping();
    await workers.stop();
    depsWithoutWake.mails.close();
  };
  exitOnCrash(app);
  const closeRest = async () => {
    // An email not accepted within this time is retried by the next instance.
    await Promise.race([stopBeside(), pause(limits.stopBesideWithin, undefined, { ref: false })]);
    await storage.close();
  };
  try {
    await app.listen({ host: config.host, port: config.port });
  } catch (error) {
    await app.close();
    await closeRest();
    throw new Error(listenProblem(error as Error, config));
  }
  stopHousekeeping = startHousekeeping(depsWithoutWake);
  app.log.info(
    { url: config.publicUrl.origin + config.basePath },
    `Vestibule is ready at ${config.publicUrl.origin}${config.basePath}/`,
  );
  const warning = placeholderWarning(config);
  if (warning) app.log.warn(warning);
  stopOnSignal(app, config, closeRest);
}

/**
 * On a signal: accepts no more connections, answers what is under way, then closes the database. A proxy may not repeat a POST:
 * a sign-in that it sends on a connection that we close is lost. So its idle connections are its own to close.
 */
function stopOnSignal(app: FastifyInstance, { trustedProxies }: Config, closeRest: () => Promise<void>): void {
  const { server } = app;
  let isStopping = false;
  const stop = async (signal: string) => {
    // Under npm, Ctrl-C arrives from the terminal and from npm.
    if (isStopping) return;
    isStopping = true;
    app.log.info({ signal }, 'stopping');
    setTimeout(() => process.exit(1), limits.stopWithin).unref();
    // Whose answer still goes on by then is cut off, so that the rest is closed in order.
    setTimeout(() => server.closeAllConnections(), limits.stopWithin - limits.stopBesideWithin).unref();
    // Node calls this when the server closes. What becomes idle later, Node closes by its timeout.
    if (trustedProxies.rules.length > 0) server.closeIdleConnections = () => {};
    else server.keepAliveTimeout = 1;
    await quietTurn(server);
    server.close();
    await app.close();
    await closeRest();
    process.exit(0);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, stop);
}

/** With every turn busy, the stop goes on after this time. */
const quietWithin = 5000;

/**
 * Waits for a turn of the event loop that took no time and in which nobody connected. The kernel resets whoever has connected
 * and is not accepted when the server closes; Node accepts one connection a turn, and in a busy turn more arrive. No process
 * can look and close at once, so that a moment remains.
 */
async function quietTurn(server: Server): Promise<void> {
  let isQuiet = false;
  server.on('connection', () => {
    isQuiet = false;
  });
  // The turn of the signal is not watched from its beginning.
  await nextLoop();
  const until = performance.now() + quietWithin;
  for (let began = 0; !isQuiet && began < until; ) {
    isQuiet = true;
    began = performance.now();
    await nextLoop();
    if (performance.now() - began > 1) isQuiet = false;
  }
}

/** After an unexpected error the state is unknown: it is logged, and the service manager restarts the process. */
function exitOnCrash(app: FastifyInstance): void {
  process.on('uncaughtException', (error) => {
    app.log.fatal({ err: error }, 'crashed');
    process.exit(1);
  });
}

/** An error of the database as one sentence, naming the setting to change; other errors are returned unchanged. */
function databaseProblem(error: Error & { code?: string }): Error {
  if (!error.code) return error;
  const sentence = `the database cannot be used (${error.message}) – see that it runs, and that DATABASE_URL is right`;
  return new Error(sentence, { cause: error });
}

/** Why the portal cannot listen, naming the setting to change. */
export function listenProblem(error: NodeJS.ErrnoException, { host, port }: Pick<Config, 'host' | 'port'>): string {
  const place = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  switch (error.code) {
    case 'EADDRINUSE':
      return `${place} is in use by another process (perhaps another portal) – stop it, or set PORT to another port`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `this machine has no address ${host} – set HOST to one it has, or to 0.0.0.0 for all`;
    case 'EACCES':
      return `this user may not listen on port ${port} – set PORT to 1024 or above, and leave ${port} to the reverse proxy`;
    default:
      return `cannot listen on ${place}: ${error.message}`;
  }
}
