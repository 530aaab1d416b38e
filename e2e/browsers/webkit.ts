import { spawn } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import { freePort } from '#testing/free-port.ts';
import type { Webkit } from './find-webkit.ts';
import { keyActions } from './key-actions.ts';
import { ended, printed } from './process-output.ts';
import { type Browser, callSource, type Visit, type VisitOptions, windowSize } from './visit.ts';
import { WebdriverSession } from './webdriver-session.ts';

/** How often a browser is started for a visit: now and then one does not report to its driver. */
const attempts = 3;

/** Starts a screen. Each visit is a driver and a browser of its own on it, which are quickly there. */
export async function startWebkit({ driver, display }: Webkit): Promise<Browser> {
  const { width, height } = windowSize;
  const size = `${width}x${height + 100}x24`;
  const screen = spawn(display, ['-displayfd', '1', '-nolisten', 'tcp', '-screen', '0', size], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [, number] = await printed(screen, 'stdout', /(\d+)\n/);
  const visit = async (options: VisitOptions, attempt = 1): Promise<Visit> => {
    const running = await startDriver(driver, `:${number}`);
    try {
      return visitOf(await openSession(running.address, options), running.close);
    } catch (error) {
      running.close();
      if (attempt === attempts) throw error;
      return await visit(options, attempt + 1);
    }
  };
  return { visit, close: () => ended(screen) };
}

async function startDriver(driver: string, display: string) {
  const port = await freePort();
  const program = spawn(driver, [`--port=${port}`, '--host=127.0.0.1'], {
    // Its own language would be the machine's.
    env: { ...process.env, DISPLAY: display, GDK_BACKEND: 'x11', LANGUAGE: 'en_GB', LC_ALL: 'C.UTF-8' },
    stdio: 'ignore',
    // A group, so that its browser ends with it.
    detached: true,
  });
  const close = () => {
    if (program.pid !== undefined && program.exitCode === null && program.signalCode === null)
      process.kill(-program.pid);
  };
  const address = `http://127.0.0.1:${port}`;
  for (let tries = 0; tries < 300 && program.exitCode === null; tries += 1) {
    const answer = await fetch(`${address}/status`).catch(() => null);
    if (answer?.ok) return { address, close };
    await wait(50);
  }
  close();
  throw new Error(`${driver} does not start`);
}

async function openSession(driver: string, { javaScript }: VisitOptions): Promise<WebdriverSession> {
  const args = ['--automation', `--enable-javascript=${javaScript ? 'TRUE' : 'FALSE'}`];
  const session = await WebdriverSession.open(driver, { 'webkitgtk:browserOptions': { args } });
  const { width, height } = windowSize;
  // The height of its bar comes on top.
  await session.post('window/rect', { x: 0, y: 0, width, height: height + 38 });
  return session;
}

function visitOf(session: WebdriverSession, end: () => void): Visit {
  const act = (source: object) => session.post('actions', { actions: [source] });
  return {
    open: async (url) => await session.post('url', { url }),
    back: async () => await session.post('back', {}),
    reload: async () => await session.post('refresh', {}),
    call: async (work, ...args) =>
      JSON.parse(
        await session.post<string>('execute/sync', { script: `return (${callSource(work, args)})()`, args: [] }),
      ),
    click: async ({ x, y }) => {
      const pressed = [
        { type: 'pointerMove', duration: 0, x, y },
        { type: 'pointerDown', button: 0 },
        { type: 'pointerUp', button: 0 },
      ];
      await act({ type: 'pointer', id: 'mouse', parameters: { pointerType: 'mouse' }, actions: pressed });
    },
    type: async (text) => await act({ type: 'key', id: 'keyboard', actions: keyActions(text) }),
    picture: async () => Buffer.from(await session.get<string>('screenshot'), 'base64'),
    faults: () => [],
    close: async () => {
      await session.end();
      end();
    },
  };
}
