import type { FastifyBaseLogger } from 'fastify';

/** Work that waits in the database and is done beside the requests. */
export type Worker = {
  /** Says that there is something to do: it begins at once rather than at the next look. */
  wake: () => void;
  /** Begins nothing new; resolves when what was under way is done. */
  stop: () => Promise<void>;
};

/** What one piece of work came to: `more` looks again at once, `pause` is how long to leave it, in milliseconds. */
export type Outcome = 'more' | 'nothing' | { pause: number };

export type WorkerOptions = {
  /** For the log. */
  name: string;
  /** `stopping` says to come to an end soon. */
  work: (stopping: AbortSignal) => Promise<Outcome>;
  /** How often to look when nobody wakes it, in milliseconds: other processes leave work too. */
  lookEvery: number;
  /** How many pieces may be under way at once. */
  lanes?: number;
  log: FastifyBaseLogger;
};

/**
 * Does pieces of work until there are none, then waits to be woken or for the next look. An error is logged, and the
 * work is tried again at the next look.
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

  /** Where one lane has found something there may be more: the others look too. */
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
