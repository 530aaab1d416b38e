/** More work waits than may. */
export class WorkQueueFull extends Error {}

export type WorkQueue = {
  inTurn: <T>(work: () => Promise<T>) => Promise<T>;
  /** Throws WorkQueueFull when more work would be refused: to be asked before anything is counted or changed. */
  refuseWhenFull: () => void;
};

/**
 * A line for heavy work: at most `atOnce` pieces run, at most `mostWaiting` wait, in the order of arrival; more throws
 * WorkQueueFull. A place is kept until its work ends, whether or not anybody still waits for the result, so that
 * leaving early buys nobody a second one.
 */
export function workQueue(atOnce: number, mostWaiting: number): WorkQueue {
  let running = 0;
  const waiting: (() => void)[] = [];

  function refuseWhenFull() {
    if (running >= atOnce && waiting.length >= mostWaiting) throw new WorkQueueFull();
  }

  async function inTurn<T>(work: () => Promise<T>): Promise<T> {
    refuseWhenFull();
    if (running < atOnce) running += 1;
    else {
      await new Promise<void>((resolve) => waiting.push(resolve));
    }
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  }

  return { inTurn, refuseWhenFull };
}
