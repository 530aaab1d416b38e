import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import { freePort } from '#testing/free-port.ts';
import type { Webkit } from './find-webkit.ts';
import { keyActions } from './key-actions.ts';
import { ended, printed } from './process-output.ts';
import { type Browser, callSource, type Visit, windowSize } from './visit.ts';
import { WebdriverSession } from './webdriver-session.ts';

/** Starts the driver of WebKitGTK on a screen of its own. Each visit is a browser of its own, which is quickly there. */
export async function startWebkit({ driver, display }: Webkit): Promise<Browser> {
  const { width, height } = windowSize;
  const screen = spawn(
    display,
    ['-displayfd', '1', '-nolisten', 'tcp', '-screen', '0', `${width}x${height + 100}x24`],
    {
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  );
  const [, number] = await printed(screen, 'stdout', /(\d+)\n/);
  const port = await freePort();
  const program = spawn(driver, [`--port=${port}`, '--host=127.0.0.1'], {
    // Its own language would be the machine's.
    env: { ...process.env, DISPLAY: `:${number}`, GDK_BACKEND: 'x11', LANGUAGE: 'en_GB', LC_ALL: 'C.UTF-8' },
    stdio: 'ignore',
  });
  const address = `http://127.0.0.1:${port}`;
  await untilReady(program, address);
  return {
    visit: async ({ javaScript }) => {
      const args = ['--automation', `--enable-javascript=${javaScript ? 'TRUE' : 'FALSE'}`];
      const session = await WebdriverSession.open(address, {
        'webkitgtk:browserOptions': { args },
      });
      // Its bar is as high.
      await session.post('window/rect', { x: 0, y: 0, width, height: height + 38 });
      return visitOf(session);
    },
    close: async () => {
      await ended(program);
      await ended(screen);
    },
  };
}

async function untilReady(driver: ChildProcess, address: string): Promise<void> {
  for (let tries = 0; tries < 300 && driver.exitCode === null; tries += 1) {
    if (
      await fetch(`${address}/status`).then(
        ({ ok }) => ok,
        () => false,
      )
    )
      return;
    await wait(50);
  }
  driver.kill();
  throw new Error(`${driver.spawnfile} does not start`);
}

function visitOf(session: WebdriverSession): Visit {
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
    close: async () => await session.end(),
  };
}
