import type { BrowserContext, Page } from '@playwright/test';

/** Collects what must not happen in any page: console errors, uncaught errors, policy violations, foreign requests. */
export class Watch {
  readonly #origins: Set<string>;
  readonly #hosts = new Set<string>();
  readonly #expected: RegExp[] = [];
  readonly #seen: string[] = [];

  constructor(origins: readonly string[]) {
    this.#origins = new Set(origins);
  }

  /** Tests declare the errors they provoke; only matching ones are ignored. */
  expect(...patterns: RegExp[]): void {
    this.#expected.push(...patterns);
  }

  /** Adds an error seen in another way. */
  add(fault: string): void {
    this.#seen.push(fault);
  }

  /** A foreign site used by a test, such as an attacker's. */
  know(origin: string): void {
    this.#origins.add(origin);
  }

  /** A site whose pages are not checked, such as a provider's. */
  host(origin: string): void {
    this.#origins.add(origin);
    this.#hosts.add(origin);
  }

  #isElsewhere(page: Page | null | undefined): boolean {
    return this.#hosts.has(URL.parse(page?.url() ?? '')?.origin ?? '');
  }

  get faults(): string[] {
    return this.#seen.filter((fault) => !this.#expected.some((pattern) => pattern.test(fault)));
  }

  async over(context: BrowserContext): Promise<void> {
    context.on('console', (message) => {
      if (message.type() === 'error' && !this.#isElsewhere(message.page()))
        this.#seen.push(`console: ${message.text()}`);
    });
    context.on('weberror', (error) => this.#seen.push(`uncaught: ${error.error().stack}`));
    context.on('request', (request) => {
      const url = new URL(request.url());
      const isOwn = /^(?:data|blob|about):$/.test(url.protocol) || this.#origins.has(url.origin);
      if (!isOwn && !this.#isElsewhere(request.serviceWorker() ? null : request.frame().page()))
        this.#seen.push(`request: ${request.url()}`);
    });
    await context.exposeBinding('reportViolation', (_source, text: string) => void this.#seen.push(`policy: ${text}`));
    await context.addInitScript(() => {
      addEventListener('securitypolicyviolation', (event) => {
        const { reportViolation } = window as unknown as { reportViolation: (text: string) => void };
        reportViolation(`${event.violatedDirective} ${event.blockedURI} ${event.sample}`);
      });
    });
  }
}
