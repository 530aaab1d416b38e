import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, type Page } from '@playwright/test';
import { freePort } from '../support/free-port.ts';
import { quickFolder } from '../support/quick-folder.ts';
import { type StartedProcess, startProcess } from '../support/started-process.ts';
import { codeForm, signInForm, ssoForm } from './forms.ts';
import { program } from './portal-under-test.ts';
import { test as base } from './test.ts';
import { Watch } from './watch.ts';

/** `vestibule demo` as a process, with nothing in its environment and a temporary folder of its own. */
export class DemoProcess {
  readonly #started: StartedProcess;
  readonly folder: string;
  readonly port: number;

  private constructor(started: StartedProcess, folder: string, port: number) {
    this.#started = started;
    this.folder = folder;
    this.port = port;
  }

  /** Starts it, and waits until it says that it is ready, or what is wrong; by default in a new folder, at a free port. */
  static async start({
    folder,
    port,
    host,
  }: {
    folder?: string;
    port?: number;
    host?: string | undefined;
  } = {}): Promise<DemoProcess> {
    const cwd = folder ?? (await mkdtemp(join(quickFolder, 'vestibule-e2e-demo-')));
    const at = port ?? (await freePort());
    const started = await startProcess(
      process.execPath,
      [program, 'demo', '--port', String(at), ...(host === undefined ? [] : ['--host', host])],
      (output) => /Ctrl-C ends it|cannot start/.test(output),
      { cwd, env: { PATH: process.env.PATH, HOME: cwd, TMPDIR: cwd } },
    );
    return new DemoProcess(started, cwd, at);
  }

  get output(): string {
    return this.#started.output();
  }

  /** The address of the start page, as it is printed. */
  get startPage(): string {
    return /^ {2}(https?:\S+)$/m.exec(this.output)?.[1] ?? '';
  }

  /** The addresses of the portal and of the demo's own pages. */
  get origins(): string[] {
    return [`http://localhost:${this.port}`, new URL(this.startPage).origin];
  }

  /** Sends a signal if there is one; returns the exit code and what is left of its folder once it has ended. */
  async end(signal?: NodeJS.Signals): Promise<{ code: number | null; left: string[] }> {
    const { code } = await (signal ? this.#started.end(signal) : this.#started.exit);
    return { code, left: await readdir(this.folder) };
  }

  async discard(): Promise<void> {
    await this.end('SIGTERM');
    await rm(this.folder, { recursive: true });
  }
}

/** Not the tests of a portal, but in their worker, which would otherwise end here. One demo for the whole file. */
export const test = base.extend<{ demo: DemoVisit }>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the pattern to know what the fixture needs
  baseURL: async ({}, use) => await use(undefined),
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the pattern to know what the fixture needs
  watch: async ({}, use) => await use(new Watch([])),
  demo: async ({ oncePerWorker, page }, use) =>
    await use(new DemoVisit(page, (await oncePerWorker.get(startDemo, undefined)).process)),
});

async function startDemo() {
  const process = await DemoProcess.start();
  return { process, close: () => process.discard() };
}

/** Somebody who tries the demo. */
export class DemoVisit {
  readonly #page: Page;
  readonly process: DemoProcess;

  constructor(page: Page, process: DemoProcess) {
    this.#page = page;
    this.process = process;
  }

  get startPage(): string {
    return this.process.startPage;
  }

  /** Opens a case by its link on the start page; returns the password that the page gives. */
  async open(id: string): Promise<string> {
    await this.#page.goto(this.startPage);
    const card = this.#page.locator(`#case-${id}`);
    const shown = await card.locator('code').allInnerTexts();
    await this.#page.goto(new URL((await card.locator('a.button').getAttribute('href')) ?? '', this.startPage).href);
    return shown[1] ?? '';
  }

  /** The recovery code or the reference that a case shows. */
  async codeShownBy(id: string): Promise<string> {
    const start = await this.#page.context().newPage();
    await start.goto(this.startPage);
    const code = await start.locator(`#case-${id} code`).nth(2).innerText();
    await start.close();
    return code;
  }

  async sendPassword(password: string): Promise<void> {
    await signInForm(this.#page).password.fill(password);
    await signInForm(this.#page).button.click();
  }

  /** Opens a case of the desk and signs in there. */
  async comeToDesk(id: string, username: string): Promise<void> {
    await this.sendPassword(await this.open(id));
    await expect(codeForm(this.#page).field).toBeVisible();
    await codeForm(this.#page).send(await this.appCodeOf(username));
    await expect(this.#page.getByRole('search')).toBeVisible();
  }

  /** Sends the address that the case filled in, and picks somebody at the provider. */
  async pick(email: string): Promise<void> {
    await ssoForm(this.#page).button.click();
    await this.#page.getByRole('button', { name: email }).click();
  }

  async expectInHub(username: string): Promise<void> {
    await expect(this.#page.getByRole('heading', { name: 'Welcome, ' })).toBeVisible();
    await expect(this.#page.locator('.headers')).toContainText(username);
  }

  /** By the menu of the sample hub. */
  async signOut(): Promise<void> {
    await this.#page.locator('.menu summary').click();
    await this.#page.getByRole('button', { name: 'Sign out' }).click();
  }

  /** The newest mail to somebody, by its text. */
  async mailTo(email: string): Promise<string> {
    const mails = await this.#page.context().newPage();
    const mail = mails.locator('.mail', { hasText: email }).first();
    await expect(async () => {
      await mails.goto(`${this.startPage}inbox`);
      await expect(mail).toBeVisible({ timeout: 100 });
    }).toPass();
    const text = await mail.locator('pre').textContent();
    await mails.close();
    return text ?? '';
  }

  /** The code that the authenticator shows for somebody. */
  async appCodeOf(username: string): Promise<string> {
    const codes = await this.#page.context().newPage();
    await codes.goto(`${this.startPage}authenticator`);
    const shown = await codes.locator('.app', { hasText: username }).locator('.code').innerText();
    await codes.close();
    return shown.replace(' ', '');
  }
}

export const codeIn = (mail: string) => (/\b\d{3} ?\d{3}\b/.exec(mail)?.[0] ?? '').replace(' ', '');
