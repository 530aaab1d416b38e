import type { FastifyBaseLogger } from 'fastify';
import { minute, second } from '../limits.ts';

/** Does work that waits in the database, alongside the requests. */
export type Worker = {
  /** Signals that there is work, so that it starts before the next look. */
  wake: () => void;
  /** Starts nothing new; resolves when work in progress is done. */
  stop: () => Promise<void>;
};

/** `more`: something was done; `away`: the server that all this work needs is down. */
export type Outcome = 'more' | 'nothing' | 'away';

export type WorkerOptions = {
  /** For the log. */
  name: string;
  work: () => Promise<Outcome>;
  /** Interval in milliseconds: other processes leave work too. */
  lookEvery: number;
  /** How many pieces may run at once. */
  atOnce?: number;
  log: FastifyBaseLogger;
};

const longestRest = minute;

/**
 * Does pieces of work until there are none, then waits for a wake-up or the next look. While a server is down it rests, twice
 * as long each time, up to a minute. Errors are logged, and the work is tried again at the next look.
 */
export function startWorker({ name, work, lookEvery, atOnce = 1, log }: WorkerOptions): Worker {
  const running = new Set<Promise<void>>();
  let isStopping = false;
  let rest = 0;
  let restsUntil = 0;
  let wokenMeanwhile = false;

  async function run(): Promise<void> {
    while (!isStopping && !isResting()) {
      wokenMeanwhile = false;
      const outcome = await work().catch((error: unknown) => {
        log.error({ err: error }, `${name} failed`);
        return 'failed' as const;
      });
      if (outcome === 'nothing' && !wokenMeanwhile) return;
      if (outcome === 'failed') restsUntil = Math.max(restsUntil, performance.now() + lookEvery);
      if (outcome === 'away' && !isResting()) {
        rest = Math.min(longestRest, Math.max(second, rest * 2));
        restsUntil = performance.now() + rest;
      }
      if (outcome !== 'more') continue;
      rest = 0;
      wake();
    }
  }

  function isResting(): boolean {
    return performance.now() < restsUntil;
  }

  /** If one piece was there, there may be more, so others look too. */
  function wake(): void {
    wokenMeanwhile = true;
    if (isStopping || running.size >= atOnce) return;
    const one: Promise<void> = run().finally(() => running.delete(one));
    running.add(one);
  }

  const timer = setInterval(wake, lookEvery);
  timer.unref();
  wake();
  return {
    wake,
    async stop() {
      isStopping = true;
      clearInterval(timer);
      await Promise.all(running);
    },
  };
}
