import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { quickFolder } from '#testing/quick-folder.ts';
import { BidiConnection } from './bidi-connection.ts';
import { keyActions } from './key-actions.ts';
import { pointerActions } from './pointer-actions.ts';
import { ended, printed } from './process-output.ts';
import { type Browser, callSource, type Visit, type VisitOptions, windowSize } from './visit.ts';

/** Processes for pages in reserve would only take time from the portal. */
const preferences: Settings = {
  'ui.prefersReducedMotion': 1,
  'dom.ipc.processCount': 1,
  'dom.ipc.processPrelaunch.enabled': false,
};

type Settings = Record<string, boolean | number>;

/** What of a visit is a setting of the whole browser. */
function settingsFor({ javaScript, cookies = true, looks }: VisitOptions): Settings {
  return {
    'javascript.enabled': javaScript,
    ...(!cookies && { 'network.cookie.cookieBehavior': 2 }),
    ...(looks === 'night' && { 'ui.systemUsesDarkTheme': 1 }),
    ...(looks === 'contrast' && { 'ui.useAccessibilityTheme': 1, 'browser.display.document_color_use': 2 }),
  };
}

/** Starts Firefox without a window, a process for each set of settings, by the first visit that asks for it. */
export function startFirefox(program: string): Browser {
  const running = new Map<string, Promise<Running>>();
  return {
    visit: async (options) => {
      const settings = settingsFor(options);
      const key = JSON.stringify(settings);
      const process = running.get(key) ?? startProcess(program, settings);
      running.set(key, process);
      return await openVisit((await process).connection, options);
    },
    close: async () => {
      for (const process of await Promise.allSettled(running.values()))
        if (process.status === 'fulfilled') await process.value.close();
    },
  };
}

type Running = { connection: BidiConnection; close: () => Promise<void> };

async function startProcess(program: string, own: Settings): Promise<Running> {
  const profile = mkdtempSync(join(quickFolder, 'vestibule-firefox-'));
  const settings = Object.entries({ ...preferences, ...own });
  const lines = settings.map(([name, value]) => `user_pref("${name}", ${value});\n`);
  writeFileSync(join(profile, 'user.js'), lines.join(''));
  const browser: ChildProcess = spawn(
    program,
    ['--headless', '--no-remote', '--remote-debugging-port=0', '--profile', profile],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const close = async () => {
    await ended(browser);
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    const [, url = ''] = await printed(browser, 'stderr', /WebDriver BiDi listening on (ws:\S+)/);
    const connection = await BidiConnection.open(url);
    await connection.send('session.subscribe', { events: ['log.entryAdded'] });
    return { connection, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function openVisit(connection: BidiConnection, options: VisitOptions): Promise<Visit> {
  const { userContext } = await connection.send<{ userContext: string }>('browser.createUserContext');
  return await openTab(connection, userContext, options);
}

async function openTab(connection: BidiConnection, userContext: string, options: VisitOptions): Promise<Visit> {
  const created = await connection.send<{ context: string }>('browsingContext.create', { type: 'tab', userContext });
  const { context } = created;
  const resize = (viewport: object) => connection.send('browsingContext.setViewport', { context, viewport });
  await resize(windowSize);
  const { language, loads } = options;
  if (language) await connection.send('emulation.setLocaleOverride', { locale: language, contexts: [context] });
  const faults: string[] = [];
  connection.listen((_method, entry) => {
    const { level, text, source } = entry as { level: string; text: string; source: { context?: string } };
    if (level === 'error' && source.context === context) faults.push(text);
  });
  const wait = loads === 'document' ? 'interactive' : 'complete';
  const act = (source: object) => connection.send('input.performActions', { context, actions: [source] });
  return {
    open: async (url) => await connection.send('browsingContext.navigate', { context, url, wait }),
    back: async () => await connection.send('browsingContext.traverseHistory', { context, delta: -1 }),
    reload: async () => await connection.send('browsingContext.reload', { context, wait: 'complete' }),
    call: async (work, ...args) => {
      type Called = { type: string; result: { value: string }; exceptionDetails?: { text: string } };
      const { result, exceptionDetails } = await connection.send<Called>('script.callFunction', {
        functionDeclaration: callSource(work, args),
        // A world of its own, which the page's scripts and policy have no part in.
        target: { context, sandbox: 'test' },
        awaitPromise: false,
      });
      if (exceptionDetails) throw new Error(exceptionDetails.text);
      return JSON.parse(result.value);
    },
    click: async (point, times) => await act(pointerActions(point, times)),
    type: async (text) => await act({ type: 'key', id: 'keyboard', actions: keyActions(text) }),
    named: async (role, name) => {
      const locator = { type: 'accessibility', value: { role, name } };
      const { nodes } = await connection.send<{ nodes: object[] }>('browsingContext.locateNodes', { context, locator });
      return nodes.length;
    },
    narrow: async (width) => await resize({ ...windowSize, width }),
    tab: async () => await openTab(connection, userContext, options),
    picture: async () => {
      const { data } = await connection.send<{ data: string }>('browsingContext.captureScreenshot', { context });
      return Buffer.from(data, 'base64');
    },
    losesPresses: false,
    faults: () => faults,
    close: async () => await connection.send('browser.removeUserContext', { userContext }),
  };
}
