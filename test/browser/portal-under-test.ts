import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '../support/free-port.ts';
import { quickFolder } from '../support/quick-folder.ts';
import { type CommandResult, runVestibule } from '../support/run-vestibule.ts';

export const repository = fileURLToPath(new URL('../../', import.meta.url));
const program = join(repository, 'cli/vestibule.ts');

/** How a portal is set up. */
export type Settings = {
  /** What the configuration file holds. */
  config?: object;
  /** Where visitors reach the portal if a proxy is in front of it. */
  publicUrl?: string;
  /** Additional environment, such as SMTP_URL. */
  env?: Record<string, string>;
};

/** The real product on its own data folder, run as an operator does. */
export class PortalUnderTest {
  readonly port: number;
  readonly origin: string;
  /** What an operator's shell would have set. */
  readonly env: Record<string, string>;
  readonly #folder: string;
  #server: ChildProcess | null = null;
  #log = '';

  private constructor(port: number, folder: string, { config = {}, publicUrl, env }: Settings) {
    this.port = port;
    this.origin = publicUrl ?? `http://localhost:${port}`;
    this.#folder = folder;
    const configFile = join(folder, 'vestibule.config.json');
    writeFileSync(configFile, JSON.stringify(config));
    this.env = {
      PATH: [dirname(process.execPath), process.env.PATH].join(':'),
      HOME: process.env.HOME ?? folder,
      PORT: String(port),
      VESTIBULE_DATA: join(folder, 'data'),
      VESTIBULE_CONFIG: configFile,
      ...(publicUrl && { PUBLIC_URL: publicUrl }),
      ...env,
    };
  }

  /** A portal with an empty data folder, not yet running. */
  static async prepare(settings: Settings = {}): Promise<PortalUnderTest> {
    return new PortalUnderTest(await freePort(), mkdtempSync(join(quickFolder, 'vestibule-e2e-')), settings);
  }

  /** Starts the server and waits until it reports that it is ready. */
  async start(): Promise<void> {
    const server = spawn(process.execPath, [program, 'serve'], {
      cwd: repository,
      env: this.env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#server = server;
    const keep = (chunk: Buffer) => {
      this.#log += chunk;
    };
    server.stdout.on('data', keep);
    server.stderr.on('data', keep);
    const deadline = Date.now() + 150_000;
    while (!(await this.#isReady())) {
      if (server.exitCode !== null || server.signalCode !== null || Date.now() > deadline)
        throw new Error(`The portal does not start:\n${this.log}`);
      await pause(50);
    }
  }

  async #isReady(): Promise<boolean> {
    const answer = await fetch(`http://127.0.0.1:${this.port}/readyz`, { signal: AbortSignal.timeout(2000) }).catch(
      () => null,
    );
    return answer?.ok ?? false;
  }

  /** Signs in without a browser; returns the session cookie, or null if refused. */
  async signInPlainly(username: string, password: string): Promise<string | null> {
    const cookies = await this.cookiesOfSignIn(username, password);
    return cookies.find((cookie) => cookie.startsWith('vestibule-session=')) ?? null;
  }

  /** The cookies that a sign-in by password sets, as `Set-Cookie` has them. */
  async cookiesOfSignIn(username: string, password: string): Promise<string[]> {
    const answer = await fetch(`${this.origin}/portal/performlogin`, {
      method: 'POST',
      body: new URLSearchParams({ username, password }),
      headers: { accept: 'text/html', origin: this.origin },
      redirect: 'manual',
    });
    return answer.headers.getSetCookie();
  }

  /** Requests a reset link without a browser; returns the status of the answer. */
  async askForLinkPlainly(email: string): Promise<number> {
    const answer = await fetch(`${this.origin}/portal/password/forgotten`, {
      method: 'POST',
      body: new URLSearchParams({ username: email }),
      headers: { origin: this.origin },
    });
    return answer.status;
  }

  /** The user of a session cookie; null if it opens nothing. */
  async userOfSession(cookie: string): Promise<string | null> {
    const answer = await fetch(`${this.origin}/portal/session`, {
      headers: { cookie: cookie.split(';')[0] as string },
    });
    return answer.status === 200 ? ((await answer.json()) as { username: string }).username : null;
  }

  /** The server's whole output, over every start. */
  get log(): string {
    return this.#log;
  }

  /** Stops the server, as a service manager does; returns the exit code, or null if a signal ended it. */
  async stop(): Promise<number | null> {
    return await this.#end('SIGTERM');
  }

  /** Kills the server without warning, like a power cut. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  async #end(signal: NodeJS.Signals): Promise<number | null> {
    const server = this.#server;
    if (!server || server.exitCode !== null || server.signalCode !== null) return null;
    const exited = once(server, 'exit');
    server.kill(signal);
    const [code] = (await exited) as [number | null];
    this.#server = null;
    return code;
  }

  /**
   * Runs `vestibule` with these arguments, beside the running server or without one, inside the test's process: a new
   * one spends a second loading code.
   */
  async run(args: readonly string[], input = ''): Promise<CommandResult> {
    return await runVestibule(args, { env: this.env, input });
  }

  /** Runs `vestibule` as `run` does; throws with the command's own message if it fails. */
  async mustRun(args: readonly string[], input = ''): Promise<string> {
    const { code, out, err } = await this.run(args, input);
    if (code !== 0) throw new Error(`vestibule ${args.join(' ')}: ${err}`);
    return out;
  }

  /** A user's audit events of one kind, newest first. */
  async eventsOf(username: string, event: string): Promise<{ reason: string | null; reference: string | null }[]> {
    return JSON.parse(await this.mustRun(['audit', '--user', username, '--event', event, '--json']));
  }

  /** Stops the server and deletes its data folder. */
  async discard(): Promise<void> {
    await this.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
