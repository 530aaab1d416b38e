import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../support/free-port.ts';
import { quickFolder } from '../support/quick-folder.ts';
import { type CommandResult, runVestibule } from '../support/run-vestibule.ts';
import { isAnswered, type StartedProcess, startProcess } from '../support/started-process.ts';

const repository = fileURLToPath(new URL('../../', import.meta.url));
export const program = join(repository, 'cli/vestibule.ts');

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
  #server: StartedProcess | null = null;
  /** Its output before the last start. */
  #earlier = '';

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
    this.#earlier = this.log;
    const isReady = () => isAnswered(`http://127.0.0.1:${this.port}/readyz`);
    const how = { cwd: repository, env: this.env };
    this.#server = await startProcess(process.execPath, [program, 'serve'], isReady, how);
  }

  /** The server's whole output, over every start. */
  get log(): string {
    return this.#earlier + (this.#server?.output() ?? '');
  }

  /** Stops the server, as a service manager does; returns the exit code, or null if a signal ended it. */
  async stop(): Promise<number | null> {
    return (await this.#server?.end())?.code ?? null;
  }

  /** Kills the server without warning, like a power cut. */
  async kill(): Promise<void> {
    await this.#server?.end('SIGKILL');
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
