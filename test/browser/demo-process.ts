import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../support/free-port.ts';
import { quickFolder } from '../support/quick-folder.ts';
import { repository } from './portal-under-test.ts';

type Where = { folder?: string; port?: number };

/** `vestibule demo` as a process, with nothing in its environment and a temporary folder of its own. */
export class DemoProcess {
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown[]>;
  readonly folder: string;
  readonly port: number;
  output = '';

  private constructor(folder: string, port: number) {
    this.folder = folder;
    this.port = port;
    const program = join(repository, 'cli/vestibule.ts');
    this.#child = spawn(process.execPath, [program, 'demo', '--port', String(port)], {
      cwd: folder,
      env: { PATH: process.env.PATH, HOME: folder, TMPDIR: folder },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#exited = once(this.#child, 'exit');
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.on('data', (chunk: Buffer) => {
        this.output += chunk;
      });
  }

  /** Starts it, and waits for nothing. By default in a new folder, at a free port. */
  static async launch({ folder, port }: Where = {}): Promise<DemoProcess> {
    const made = folder ?? (await mkdtemp(join(quickFolder, 'vestibule-e2e-demo-')));
    return new DemoProcess(made, port ?? (await freePort()));
  }

  /** Starts it, and waits until it says that it is ready. */
  static async start(where?: Where): Promise<DemoProcess> {
    const demo = await DemoProcess.launch(where);
    const isReady = () => demo.output.includes('Ctrl-C ends it');
    let hasExited = false;
    const exit = demo.#exited.then(() => {
      hasExited = true;
    });
    while (!isReady() && !hasExited)
      await Promise.race([once(demo.#child.stdout as NodeJS.ReadableStream, 'data'), exit]);
    if (!isReady()) throw new Error(`The demo does not start:\n${demo.output}`);
    return demo;
  }

  /** The address of the start page, as it is printed. */
  get startPage(): string {
    return /^ {2}(http:\S+)$/m.exec(this.output)?.[1] ?? '';
  }

  /** The addresses of the portal and of the demo's own pages. */
  get origins(): string[] {
    return [`http://localhost:${this.port}`, new URL(this.startPage).origin];
  }

  /** Sends a signal; returns the exit code and what is left of its folder. */
  async end(signal: NodeJS.Signals): Promise<{ code: unknown; left: string[] }> {
    this.#child.kill(signal);
    return await this.ended();
  }

  /** Waits until it has ended by itself; returns the same. */
  async ended(): Promise<{ code: unknown; left: string[] }> {
    const [code] = await this.#exited;
    return { code, left: await readdir(this.folder) };
  }

  async discard(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) await this.end('SIGTERM');
    await rm(this.folder, { recursive: true });
  }
}
