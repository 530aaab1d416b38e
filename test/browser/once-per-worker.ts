type Closable = { close: () => Promise<void> };

/**
 * Starts what the tests of a file share, once in each worker, and closes it with the worker. A worker-scoped fixture of
 * that file alone would make Playwright end the worker, with its portal, before and after the file.
 */
export class OncePerWorker {
  readonly #started = new Map<unknown, Promise<Closable>>();

  /** What `start` resolves to, started by the first test that needs it. */
  async get<Needs, Started extends Closable>(
    start: (needs: Needs) => Promise<Started>,
    needs: Needs,
  ): Promise<Started> {
    const started = (this.#started.get(start) as Promise<Started> | undefined) ?? start(needs);
    this.#started.set(start, started);
    return await started;
  }

  async close(): Promise<void> {
    for (const started of await Promise.allSettled(this.#started.values()))
      if (started.status === 'fulfilled') await started.value.close();
  }
}
