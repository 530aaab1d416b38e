import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { freePort } from '#testing/free-port.ts';
import type { Webkit } from './find-webkit.ts';
import { keyActions } from './key-actions.ts';
import { pointerActions } from './pointer-actions.ts';
import { ended, printed } from './process-output.ts';
import { type Browser, callSource, type Visit, type VisitOptions, windowSize } from './visit.ts';
import { WebdriverSession } from './webdriver-session.ts';

/** How often a browser is started for a visit: now and then one does not report to its driver. */
const attempts = 3;

/** Reduced motion, and a bar that lets the window be as narrow as a phone. */
const gtkSettings = {
  'settings.ini': '[Settings]\ngtk-enable-animations=0\n',
  'gtk.css': `button, entry, toolbar, toolbutton, toolitem, headerbar { min-width: 0; padding: 0; margin: 0; border-width: 0; }
entry { font-size: 1px; }`,
};

/** WebKitGTK 2.50 aborts as it collects garbage in a page that runs no scripts but a driver's: seconds after two sign-ins. */
const keepsGarbage = { JSC_useGC: '0' };

/** Starts a screen. Each visit is a driver and a browser of its own on it, which are quickly there. */
export async function startWebkit({ driver, display }: Webkit): Promise<Browser> {
  const { width, height } = windowSize;
  const size = `${width}x${height + 100}x24`;
  const screen = spawn(display, ['-displayfd', '1', '-nolisten', 'tcp', '-screen', '0', size], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [, number] = await printed(screen, 'stdout', /(\d+)\n/);
  const settings = mkdtempSync(join(tmpdir(), 'vestibule-webkit-'));
  for (const [file, text] of Object.entries(gtkSettings))
    for (const folder of ['gtk-3.0', 'gtk-4.0']) {
      mkdirSync(join(settings, folder), { recursive: true });
      writeFileSync(join(settings, folder, file), text);
    }
  const visit = async (options: VisitOptions, attempt = 1): Promise<Visit> => {
    const running = await startDriver(driver, {
      DISPLAY: `:${number}`,
      XDG_CONFIG_HOME: settings,
      ...themeOf(options),
      ...(options.javaScript ? {} : keepsGarbage),
    });
    try {
      const session = await openSession(running.address, options);
      const handle = await session.get<string>('window');
      return visitOf(new Tabs(session, handle), handle, async () => {
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
    await ended(screen);
    rmSync(settings, { recursive: true, force: true });
  };
  return { visit, close };
}

/** WebKitGTK takes from its theme what a person prefers. */
function themeOf({ looks = 'usual' }: VisitOptions): Record<string, string> {
  if (looks === 'usual') return {};
  return { GTK_THEME: looks === 'night' ? 'Adwaita:dark' : 'HighContrast' };
}

async function startDriver(driver: string, env: Record<string, string>) {
  const port = await freePort();
  const program = spawn(driver, [`--port=${port}`, '--host=127.0.0.1'], {
    // Its own language would be the machine's.
    env: { ...process.env, ...env, GDK_BACKEND: 'x11', LANGUAGE: 'en_GB', LC_ALL: 'C.UTF-8' },
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

async function openSession(driver: string, options: VisitOptions): Promise<WebdriverSession> {
  const { javaScript, cookies = true, loads, language } = options;
  if (language) throw new Error('WebKitGTK has the language of the machine');
  const args = ['--automation', `--enable-javascript=${javaScript ? 'TRUE' : 'FALSE'}`];
  if (!cookies) args.push('--cookies-policy=never');
  const session = await WebdriverSession.open(driver, {
    pageLoadStrategy: loads === 'document' ? 'none' : 'normal',
    'webkitgtk:browserOptions': { args },
  });
  await resize(session, windowSize.width);
  return session;
}

/** The height of its bar comes on top. */
async function resize(session: WebdriverSession, width: number): Promise<void> {
  await session.post('window/rect', { x: 0, y: 0, width, height: windowSize.height + 36 });
}

/** What may have a role. */
const candidates = {
  button: 'button',
  heading: 'h1, h2',
  link: 'a',
  textbox: 'input:not([type=hidden])',
};

type Element = Record<string, string>;

/** The tabs of one browser: each says where its commands go. */
class Tabs {
  readonly session: WebdriverSession;
  #current: string;

  constructor(session: WebdriverSession, first: string) {
    this.session = session;
    this.#current = first;
  }

  async at(handle: string): Promise<WebdriverSession> {
    if (handle !== this.#current) await this.session.post('window', { handle });
    this.#current = handle;
    return this.session;
  }
}

function visitOf(tabs: Tabs, handle: string, end: () => Promise<void>): Visit {
  const here = () => tabs.at(handle);
  const act = async (source: object) => await (await here()).post('actions', { actions: [source] });
  return {
    open: async (url) => await (await here()).post('url', { url }),
    back: async () => await (await here()).post('back', {}),
    reload: async () => await (await here()).post('refresh', {}),
    call: async (work, ...args) => {
      const script = `return (${callSource(work, args)})()`;
      return JSON.parse(await (await here()).post<string>('execute/sync', { script, args: [] }));
    },
    click: async (point, times) => await act(pointerActions(point, times)),
    type: async (text) => await act({ type: 'key', id: 'keyboard', actions: keyActions(text) }),
    named: async (role, name) => {
      const session = await here();
      const value = candidates[role];
      const found = await session.post<Element[]>('elements', { using: 'css selector', value });
      let count = 0;
      for (const element of found) {
        const address = `element/${Object.values(element)[0]}`;
        if ((await session.get(`${address}/computedrole`)) !== role) continue;
        if ((await session.get(`${address}/computedlabel`)) === name) count += 1;
      }
      return count;
    },
    narrow: async (width) => await resize(await here(), width),
    tab: async () => {
      const { handle } = await tabs.session.post<{ handle: string }>('window/new', { type: 'tab' });
      return visitOf(tabs, handle, async () => {});
    },
    picture: async () => Buffer.from(await (await here()).get<string>('screenshot'), 'base64'),
    losesPresses: true,
    faults: () => [],
    close: end,
  };
}
