import { randomBytes } from 'node:crypto';
import { keysOf, secretsOfDataFolder } from '#server/crypto/keys.ts';
import { migrate } from '#server/database/migrate.ts';
import { openStorage } from '#server/database/open-storage.ts';
import { createLog } from '#server/http/request-log.ts';
import { outboxOf } from '#server/mail/transport.ts';
import { caseGroups } from './cases.ts';
import { makeDemoFolder } from './demo-folder.ts';
import { openMailbox } from './desk/read-mails.ts';
import { startDesk } from './desk/start-desk.ts';
import { type Account, fillPortal } from './fill-portal.ts';
import { connections, peopleAt } from './people.ts';
import { inNetwork, type Place, thisMachine } from './place.ts';
import { type OpenIdProvider, startOpenIdProvider } from './providers/openid-provider.ts';
import { type SamlProvider, startSamlProvider } from './providers/saml-provider.ts';
import { hubName, portalConfig } from './settings.ts';
import { startHub } from './start-hub.ts';
import { freePort, type Looks, loadLooks, noLooks, portFor, startTlsFront } from './start-server.ts';

export type RunningDemo = { startPage: string; portal: string; dataFolder: string; accounts: readonly Account[] };

/** `host`: an address of this machine in its network, or null for this machine alone. `warn` prints a text for whoever started it. */
type Options = { wantedPort: number | null; host: string | null; warn: (text: string) => void };

type Start = Options & { closings: Closings; signal: AbortSignal };

/**
 * Runs the portal, a hub behind it, providers and the pages that explain them, until the process is told to stop. All that
 * it writes is in one temporary folder, which is deleted then. Returns once it is ready; throws an error with one readable
 * sentence if it cannot start.
 */
export async function runDemo(options: Options): Promise<RunningDemo> {
  const closings: Closings = [];
  const stop = stopWhileStarting();
  try {
    const demo = await start({ ...options, closings, signal: stop.signal });
    // A terminal that is closed ends the demo like Ctrl-C; the portal itself knows only the other two signals.
    process.on('SIGHUP', () => process.kill(process.pid, 'SIGTERM'));
    return demo;
  } catch (error) {
    await closeAll(closings);
    if (stop.signal.aborted) process.exit(0);
    throw error;
  } finally {
    stop.isOver();
  }
}

async function start({ wantedPort, host, warn, closings, signal }: Start): Promise<RunningDemo> {
  // Awaited later: PostgreSQL starts meanwhile.
  const portal = import('#server/run-portal.ts');
  const folder = await makeDemoFolder();
  closings.push(folder.remove);
  const place = host === null ? thisMachine : await inNetwork(host);
  const port = await portFor(wantedPort, place);
  const deskPort = await freePort(port + 1, place.host);
  const portalOrigin = place.origin(port);
  const addresses = { startPage: `${place.origin(deskPort)}/`, portal: `${portalOrigin}/portal` };
  let looks = noLooks;
  const neighbours = await startNeighbours({ ...addresses, place }, () => looks, closings);
  // The portal speaks http alone: in a network, https is taken off before it.
  const ownPort = place.tls === null ? port : await freePort(0, thisMachine.host);
  if (place.tls !== null) closings.push(await startTlsFront(place, port, ownPort));
  const support = `${addresses.startPage}explain`;
  const config = await portalConfig({
    folder: folder.path,
    port: ownPort,
    publicUrl: portalOrigin,
    hub: neighbours.hub,
    support,
  });
  const { dataFolder } = config;
  const storage = await openStorage(config, { info: () => undefined, warn });
  closings.push(storage.close);
  signal.throwIfAborted();
  const { sql } = storage;
  await migrate(sql);
  const keys = keysOf(await secretsOfDataFolder(dataFolder));
  const { accounts, ...made } = await fillPortal({ sql, keys, now: new Date() }, { ...neighbours, place });
  const mailbox = openMailbox(outboxOf(dataFolder));
  closings.push(mailbox.close);
  looks = await loadLooks();
  const groups = caseGroups(made);
  const desk = {
    port: deskPort,
    place,
    css: looks.desk,
    groups,
    accounts,
    ...neighbours,
    portalOrigin,
    mailbox,
    config,
    sql,
    keys,
  };
  closings.push((await startDesk(desk)).close);
  signal.throwIfAborted();
  // The portal closes its storage last, and then the process exits.
  const whole = { sql, close: () => closeAll(closings) };
  await (await portal).runPortal(config, createLog(process.env.LOG_LEVEL || 'error'), whole);
  // Told to stop just before the portal listened to signals.
  if (signal.aborted) process.kill(process.pid, 'SIGTERM');
  return { ...addresses, dataFolder, accounts };
}

/** How to undo what has been started, in the order of starting. */
type Closings = (() => unknown)[];

/** Undoes all of it, the latest first; once. */
async function closeAll(closings: Closings): Promise<void> {
  for (const close of closings.splice(0).reverse()) await close();
}

/**
 * Until the portal runs, and stops on signals itself, a signal only breaks off what is starting. `isOver` gives the
 * signals back.
 */
function stopWhileStarting(): { signal: AbortSignal; isOver: () => void } {
  const starting = new AbortController();
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  const breakOff = () => starting.abort();
  for (const signal of signals) process.on(signal, breakOff);
  return {
    signal: starting.signal,
    isOver: () => {
      for (const signal of signals) process.removeListener(signal, breakOff);
    },
  };
}

/** What a portal has around it: the hub behind it and the providers of its customers. */
type Neighbours = { hub: { port: number; secret: string }; oidc: OpenIdProvider; saml: SamlProvider };

type Addresses = { startPage: string; portal: string; place: Place };

/** Starts the hub and both providers. `looks` is read when a page is asked for. */
async function startNeighbours(
  { startPage, portal, place }: Addresses,
  looks: () => Looks,
  closings: Closings,
): Promise<Neighbours> {
  const secret = randomBytes(32).toString('base64url');
  const closedLater = async <Started extends { close: () => Promise<void> }>(starting: Promise<Started>) => {
    const started = await starting;
    closings.push(started.close);
    return started;
  };
  // At once, since each provider makes a key of its own.
  const [hub, oidc, saml] = await Promise.all([
    closedLater(startHub({ name: hubName, startPage }, () => looks().hub, { secret, names: place.names })),
    closedLater(
      startOpenIdProvider({
        look: { name: 'Elmwood Identity', mark: 'E', startPage },
        css: () => looks().oidc,
        clients: connections.filter(({ protocol }) => protocol === 'oidc').map(({ key }) => key),
        people: peopleAt.oidc,
        place,
        portal,
      }),
    ),
    closedLater(
      startSamlProvider({
        look: { name: 'Firwood Directory', mark: 'F', startPage },
        css: () => looks().saml,
        people: peopleAt.saml,
        place,
        portal,
      }),
    ),
  ]);
  return { hub: { port: hub.port, secret }, oidc, saml };
}
