import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { quickFolder } from '../../support/quick-folder.ts';
import { startProcess } from '../../support/started-process.ts';
import { type Browser, callSource, keyActions, type Visit, windowSize } from './visit.ts';

/** Processes for pages in reserve would only take time from the portal. */
const preferences: Settings = {
  'ui.prefersReducedMotion': 1,
  'dom.ipc.processCount': 1,
  'dom.ipc.processPrelaunch.enabled': false,
};

type Settings = Record<string, boolean | number>;

/** Starts Firefox without a window: a process with JavaScript and one without, by the first visit that asks for it. */
export function startFirefox(program: string): Browser {
  const running = new Map<boolean, Promise<Running>>();
  return {
    visit: async ({ javaScript }) => {
      const process = running.get(javaScript) ?? startRunning(program, { 'javascript.enabled': javaScript });
      running.set(javaScript, process);
      return await openVisit((await process).connection);
    },
    close: async () => {
      for (const process of await Promise.allSettled(running.values()))
        if (process.status === 'fulfilled') await process.value.close();
    },
  };
}

type Running = { connection: BidiConnection; close: () => Promise<void> };

async function startRunning(program: string, own: Settings): Promise<Running> {
  const profile = mkdtempSync(join(quickFolder, 'vestibule-firefox-'));
  const settings = Object.entries({ ...preferences, ...own });
  const lines = settings.map(([name, value]) => `user_pref("${name}", ${value});\n`);
  writeFileSync(join(profile, 'user.js'), lines.join(''));
  const listening = /WebDriver BiDi listening on (ws:\S+)/;
  const args = ['--headless', '--no-remote', '--remote-debugging-port=0', '--profile', profile];
  const browser = await startProcess(program, args, (output) => listening.test(output));
  const connection = await BidiConnection.open(listening.exec(browser.output())?.[1] ?? '');
  await connection.send('session.subscribe', { events: ['log.entryAdded'] });
  const close = async () => {
    await browser.end();
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  };
  return { connection, close };
}

async function openVisit(connection: BidiConnection): Promise<Visit> {
  const { userContext } = await connection.send<{ userContext: string }>('browser.createUserContext');
  const created = await connection.send<{ context: string }>('browsingContext.create', { type: 'tab', userContext });
  const { context } = created;
  await connection.send('browsingContext.setViewport', { context, viewport: windowSize });
  await connection.send('emulation.setLocaleOverride', { locale: 'en-GB', contexts: [context] });
  const faults: string[] = [];
  connection.listen((_method, entry) => {
    const { level, text, source } = entry as { level: string; text: string; source: { context?: string } };
    if (level === 'error' && source.context === context) faults.push(text);
  });
  return {
    open: async (url) => await connection.send('browsingContext.navigate', { context, url, wait: 'complete' }),
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
    type: async (text) => await connection.send('input.performActions', { context, actions: [keyActions(text)] }),
    faults: () => faults,
    close: async () => await connection.send('browser.removeUserContext', { userContext }),
  };
}

type Answer = { type: 'success' | 'error' | 'event'; id?: number } & Record<string, unknown>;
type Waiting = { resolve: (result: unknown) => void; reject: (error: Error) => void; method: string };

/** A session of WebDriver BiDi (https://www.w3.org/TR/webdriver-bidi/), on Node's own WebSocket. */
class BidiConnection {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, Waiting>();
  readonly #listeners: ((method: string, params: Record<string, unknown>) => void)[] = [];
  #lastId = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener('message', ({ data }) => this.#receive(JSON.parse(data)));
    socket.addEventListener('close', () => this.#end());
  }

  /** Connects to a browser that listens, and begins the session. */
  static async open(url: string): Promise<BidiConnection> {
    const socket = new WebSocket(`${url}/session`);
    await once(socket, 'open');
    const connection = new BidiConnection(socket);
    await connection.send('session.new', { capabilities: {} });
    return connection;
  }

  /** Sends a command; rejects with the browser's reason. */
  async send<Result = void>(method: string, params: object = {}): Promise<Result> {
    this.#lastId += 1;
    const id = this.#lastId;
    const answer = new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject, method }));
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify({ id, method, params }));
    else this.#end();
    return (await answer) as Result;
  }

  /** Calls back for each event that the session is subscribed to. */
  listen(listener: (method: string, params: Record<string, unknown>) => void): void {
    this.#listeners.push(listener);
  }

  #receive({ type, id, ...message }: Answer): void {
    if (type === 'event') {
      for (const listener of this.#listeners)
        listener(String(message.method), message.params as Record<string, unknown>);
      return;
    }
    const waiting = this.#waiting.get(id ?? 0);
    this.#waiting.delete(id ?? 0);
    if (type === 'success') waiting?.resolve(message.result);
    else waiting?.reject(new Error(`${waiting.method}: ${message.error}: ${message.message}`));
  }

  #end(): void {
    for (const { reject, method } of this.#waiting.values()) reject(new Error(`${method}: the browser has ended`));
    this.#waiting.clear();
  }
}
