import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buildStalePages } from '#server/build-pages.ts';
import { printWarning } from '#server/command-line/print.ts';
import { type Config, readConfig } from '#server/config/config.ts';
import { createLog } from '#server/log.ts';
import { outboxOf } from '#server/mail/outbox.ts';
import { openStorage } from '#server/open-storage.ts';
import { keysOf, secretsOfDataFolder } from '#server/secrets/server-secret.ts';
import { migrate } from '#server/storage/migrate.ts';
import { caseGroups } from './cases.ts';
import { makeDemoFolder } from './demo-folder.ts';
import { openMailbox } from './desk/read-mails.ts';
import { startDesk } from './desk/start-desk.ts';
import { type Account, fillPortal } from './fill-portal.ts';
import { freePort } from './free-port.ts';
import { startFrontGate } from './hub/front-gate.ts';
import { startHub } from './hub/start-hub.ts';
import { lookIn } from './look.ts';
import { connections, peopleAt } from './people.ts';
import { startOpenIdProvider } from './providers/openid-provider.ts';
import { startSamlProvider } from './providers/saml-provider.ts';

const hubName = 'Quayside';
const brand = '#1f5f8b';
const links = {
  support: 'mailto:support@quayside.example',
  imprint: 'https://quayside.example/imprint',
  solutions: 'https://quayside.example/',
};
const colours = { desk: '#21489c', oidc: '#2f6b3c', saml: '#8a3a12' };

export type RunningDemo = { startPage: string; portal: string; accounts: readonly Account[] };

/**
 * Runs the portal, a hub behind it, providers and the pages that explain them, until the process is told to stop. All that
 * it writes is in one temporary folder, which is deleted then. Throws an error with one readable sentence if it cannot
 * start.
 */
export async function runDemo(wantedPort: number | null, onReady: (demo: RunningDemo) => void): Promise<void> {
  const closings: Closing[] = [];
  const stop = stopWhileStarting();
  try {
    await start(wantedPort, closings, stop.signal, onReady);
  } catch (error) {
    await closeAll(closings);
    if (stop.signal.aborted) process.exit(0);
    throw error;
  } finally {
    stop.isOver();
  }
  // A terminal that is closed ends the demo like Ctrl-C; the portal itself knows only the other two signals.
  process.on('SIGHUP', () => process.kill(process.pid, 'SIGTERM'));
}

type Closing = () => unknown;

async function closeAll(closings: Closing[]): Promise<void> {
  for (const close of closings.splice(0).reverse()) await close();
}

/** Until the portal runs, and stops on signals itself, a signal only breaks off what is starting. */
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

async function start(
  wantedPort: number | null,
  closings: Closing[],
  signal: AbortSignal,
  onReady: (demo: RunningDemo) => void,
): Promise<void> {
  const folder = await makeDemoFolder();
  closings.push(folder.remove);
  const port = wantedPort ?? (await freePort(8080));
  const deskPort = await freePort(port + 1);
  const origin = `http://localhost:${port}`;
  const address = `http://localhost:${deskPort}/`;
  const built = buildStalePages();
  const css = (colour: string) => built.then(() => lookIn(colour));
  const around = { startPage: address, portal: `${origin}/portal` };
  const hub = await startHub({ name: hubName, startPage: address }, css(brand));
  closings.push(hub.close);
  const openId = await startOpenIdProvider({
    look: { name: 'Elmwood Identity', mark: 'E', startPage: address },
    css: css(colours.oidc),
    clients: connections.filter(({ protocol }) => protocol === 'oidc').map(({ key }) => key),
    people: peopleAt.oidc,
    portal: around.portal,
  });
  closings.push(openId.close);
  const saml = await startSamlProvider({
    look: { name: 'Firwood Directory', mark: 'F', startPage: address },
    css: css(colours.saml),
    people: peopleAt.saml,
    portal: around.portal,
  });
  closings.push(saml.close);
  const portalPort = await freePort(0);
  const gate = await startFrontGate(port, portalPort, hub.port);
  closings.push(gate.close);
  const config = await writeConfig(folder.path, portalPort, origin);
  const storage = await openStorage(config, { info: () => undefined, warn: printWarning });
  closings.push(storage.close);
  signal.throwIfAborted();
  const { sql } = storage;
  await migrate(sql);
  const keys = keysOf(await secretsOfDataFolder(config.dataFolder));
  const { accounts, expiredToken } = await fillPortal({ sql, keys, now: new Date() }, { oidc: openId, saml });
  const mailbox = openMailbox(outboxOf(config.dataFolder));
  closings.push(mailbox.close);
  const desk = await startDesk({
    port: deskPort,
    css: css(colours.desk),
    groups: caseGroups(expiredToken),
    accounts,
    providers: {
      oidc: { page: openId.issuer, behaviour: openId.behaviour },
      saml: { page: new URL('/', saml.signOnUrl).href, behaviour: saml.behaviour },
    },
    portalOrigin: origin,
    mailbox,
    sql,
    keys,
  });
  closings.push(desk.close);
  const { runPortal } = await import('#server/run-portal.ts');
  await built;
  signal.throwIfAborted();
  const log = createLog(process.env.LOG_LEVEL ?? 'error');
  // The portal closes its storage last, and then exits.
  await runPortal(config, log, { sql, close: () => closeAll(closings) });
  onReady({ ...around, accounts });
}

/** The configuration of the demo's portal: nothing of it comes from the environment. */
async function writeConfig(folder: string, port: number, publicUrl: string): Promise<Config> {
  const path = join(folder, 'demo.config.json');
  await writeFile(path, JSON.stringify({ name: hubName, accentColour: brand, links, trustedProxies: ['127.0.0.1'] }));
  const result = readConfig({
    PORT: String(port),
    PUBLIC_URL: publicUrl,
    VESTIBULE_DATA: join(folder, 'data'),
    VESTIBULE_CONFIG: path,
  });
  if (result.kind === 'refused') throw new Error(result.problems.join('; '));
  return result.config;
}
