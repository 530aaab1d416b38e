/** The queue is full. */
export class WorkQueueFull extends Error {}

export type WorkQueue = {
  inTurn: <T>(work: () => Promise<T>) => Promise<T>;
  /** Throws WorkQueueFull if more work would be refused: to be called before anything is counted or changed. */
  refuseWhenFull: () => void;
  /** How many pieces run and wait now. */
  length: () => { running: number; waiting: number };
};

/**
 * A queue for heavy work: at most `atOnce` pieces run and at most `mostWaiting` wait, in order of arrival; more throws
 * WorkQueueFull. A place is kept until its work ends, even if nobody waits for the result any more, so that
 * disconnecting early gains nobody a second one.
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

  return { inTurn, refuseWhenFull, length: () => ({ running, waiting: waiting.length }) };
}
