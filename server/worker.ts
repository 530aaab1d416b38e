import type { FastifyBaseLogger } from 'fastify';

/** Processes work queued in the database, alongside the requests. */
export type Worker = {
  /** Signals that there is work, so that it starts before the next poll. */
  wake: () => void;
  /** Starts nothing new; resolves when work in progress is done. */
  stop: () => Promise<void>;
};

/** The result of one piece of work: `more` polls again at once, `pause` is how long to rest, in milliseconds. */
export type Outcome = 'more' | 'nothing' | { pause: number };

export type WorkerOptions = {
  /** For the log. */
  name: string;
  /** `stopping` signals the piece to finish soon. */
  work: (stopping: AbortSignal) => Promise<Outcome>;
  /** Polling interval in milliseconds: other processes queue work too. */
  lookEvery: number;
  /** How many pieces may run at once. */
  lanes?: number;
  log: FastifyBaseLogger;
};

/**
 * Does pieces of work until there are none, then waits for a wake-up or the next poll. Errors are logged, and the work
 * is retried at the next poll.
 */
export function startWorker({ name, work, lookEvery, lanes = 1, log }: WorkerOptions): Worker {
  const running = new Set<Promise<void>>();
  const ending = new AbortController();
  const stopping = ending.signal;
  let pausedUntil = 0;
  let wokenMeanwhile = false;

  async function runLane(): Promise<void> {
    while (!stopping.aborted && performance.now() >= pausedUntil) {
      wokenMeanwhile = false;
      const outcome = await work(stopping).catch((error: unknown): Outcome => {
        log.error({ err: error }, `${name} failed`);
        return { pause: lookEvery };
      });
      if (outcome === 'nothing' && !wokenMeanwhile) return;
      if (typeof outcome === 'object') pausedUntil = Math.max(pausedUntil, performance.now() + outcome.pause);
      else wake();
    }
  }

  /** If one lane found work there may be more, so the others poll too. */
  function wake(): void {
    wokenMeanwhile = true;
    if (stopping.aborted || running.size >= lanes) return;
    const lane: Promise<void> = runLane().finally(() => running.delete(lane));
    running.add(lane);
  }

  const timer = setInterval(wake, lookEvery);
  timer.unref();
  wake();
  return {
    wake,
    async stop() {
      ending.abort();
      clearInterval(timer);
      await Promise.all(running);
    },
  };
}
