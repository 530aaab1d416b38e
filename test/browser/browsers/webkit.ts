import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../support/free-port.ts';
import { isAnswered, startProcess } from '../../support/started-process.ts';
import type { Webkit } from '../find-browsers.ts';
import { type Browser, callSource, keyActions, type Visit, type VisitOptions, windowSize } from './visit.ts';

/** How often a browser is started for a visit: now and then one does not report to its driver. */
const attempts = 3;

/** WebKitGTK 2.50 aborts as it collects garbage in a page that runs no scripts but a driver's: seconds after two sign-ins. */
const keepsGarbage = { JSC_useGC: '0' };

/** Starts a screen. Each visit is a driver and a browser of its own on it, which are quickly there. */
export async function startWebkit({ driver, display }: Webkit): Promise<Browser> {
  const { width, height } = windowSize;
  const size = `${width}x${height + 100}x24`;
  const args = ['-displayfd', '1', '-nolisten', 'tcp', '-screen', '0', size];
  const screen = await startProcess(display, args, (output) => /^\d+\n/m.test(output));
  const [, number] = /^(\d+)\n/m.exec(screen.output()) ?? [];
  const settings = mkdtempSync(join(tmpdir(), 'vestibule-webkit-'));
  for (const folder of ['gtk-3.0', 'gtk-4.0']) {
    mkdirSync(join(settings, folder));
    // Reduced motion.
    writeFileSync(join(settings, folder, 'settings.ini'), '[Settings]\ngtk-enable-animations=0\n');
  }
  const visit = async (options: VisitOptions, attempt = 1): Promise<Visit> => {
    const running = await startDriver(driver, {
      DISPLAY: `:${number}`,
      XDG_CONFIG_HOME: settings,
      ...(options.javaScript ? {} : keepsGarbage),
    });
    try {
      const session = await openSession(running.address, options);
      return visitOf(session, async () => {
        await session.end();
        running.close();
      });
    } catch (error) {
      running.close();
      if (attempt === attempts) throw error;
      return await visit(options, attempt + 1);
    }
  };
  const close = async () => {
    await screen.end();
    rmSync(settings, { recursive: true, force: true });
  };
  return { visit, close };
}

async function startDriver(driver: string, env: Record<string, string>) {
  const port = await freePort();
  const address = `http://127.0.0.1:${port}`;
  const { child } = await startProcess(
    driver,
    [`--port=${port}`, '--host=127.0.0.1'],
    () => isAnswered(`${address}/status`),
    {
      // Its own language would be the machine's.
      env: { ...process.env, ...env, GDK_BACKEND: 'x11', LANGUAGE: 'en_GB', LC_ALL: 'C.UTF-8' },
      // A group, so that its browser ends with it.
      detached: true,
    },
  );
  const close = () => {
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) process.kill(-child.pid);
  };
  return { address, close };
}

async function openSession(driver: string, { javaScript }: VisitOptions): Promise<WebdriverSession> {
  const args = ['--automation', `--enable-javascript=${javaScript ? 'TRUE' : 'FALSE'}`];
  const session = await WebdriverSession.open(driver, { 'webkitgtk:browserOptions': { args } });
  const { width, height } = windowSize;
  // The height of its bar comes on top.
  await session.post('window/rect', { x: 0, y: 0, width, height: height + 36 });
  return session;
}

function visitOf(session: WebdriverSession, end: () => Promise<void>): Visit {
  return {
    open: async (url) => await session.post('url', { url }),
    back: async () => await session.post('back', {}),
    reload: async () => await session.post('refresh', {}),
    call: async (work, ...args) => {
      const script = `return (${callSource(work, args)})()`;
      return JSON.parse(await session.post<string>('execute/sync', { script, args: [] }));
    },
    type: async (text) => await session.post('actions', { actions: [keyActions(text)] }),
    faults: () => [],
    close: end,
  };
}

type Answer = { value: unknown };
type Refusal = { value: { error: string; message: string } };

/** A session of classic WebDriver (https://www.w3.org/TR/webdriver2/). */
class WebdriverSession {
  readonly #address: string;

  private constructor(address: string) {
    this.#address = address;
  }

  /** Begins a session, with a browser of its own, at a driver. */
  static async open(driver: string, capabilities: object): Promise<WebdriverSession> {
    const { sessionId } = (await request(`${driver}/session`, 'POST', {
      capabilities: { alwaysMatch: capabilities },
    })) as {
      sessionId: string;
    };
    return new WebdriverSession(`${driver}/session/${sessionId}`);
  }

  async get<Result>(command: string): Promise<Result> {
    return (await request(`${this.#address}/${command}`, 'GET')) as Result;
  }

  async post<Result = void>(command: string, parameters: object): Promise<Result> {
    return (await request(`${this.#address}/${command}`, 'POST', parameters)) as Result;
  }

  async end(): Promise<void> {
    await request(this.#address, 'DELETE');
  }
}

/** In milliseconds. A driver that lost its browser would never answer. */
const patience = 25_000;

/** Sends a command; throws with the driver's reason. */
async function request(address: string, method: string, parameters?: object): Promise<unknown> {
  const body = parameters && JSON.stringify(parameters);
  const response = await fetch(address, { method, signal: AbortSignal.timeout(patience), ...(body && { body }) });
  const answer = (await response.json()) as Answer | Refusal;
  if (response.ok) return answer.value;
  const { error, message } = (answer as Refusal).value;
  throw new Error(`${new URL(address).pathname.replace(/.*[/]/, '')}: ${error}: ${message}`);
}
