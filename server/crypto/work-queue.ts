/** The queue is full. */
export class WorkQueueFull extends Error {}

export type WorkQueue = {
  enqueue: <T>(network: string, work: () => Promise<T>) => Promise<T>;
  /** Throws WorkQueueFull if more work of a network would be refused: to be called before anything is counted or changed. */
  refuseWhenFull: (network: string) => void;
  /** How many pieces run and wait now. */
  length: () => { running: number; waiting: number };
};

/**
 * A queue for heavy work: at most `atOnce` pieces run and at most `mostWaiting` wait, the oldest first; any more throw
 * WorkQueueFull. One network has at most half of the places, so that somebody who signs in without end keeps nobody else out.
 * A piece that runs does so until its work ends, even if nobody waits for the result any more, so that disconnecting early
 * gains nobody a second one.
 */
export function workQueue(atOnce: number, mostWaiting: number): WorkQueue {
  let running = 0;
  const waiting: { network: string; begin: () => void }[] = [];

  function refuseWhenFull(network: string) {
    if (running < atOnce) return;
    const ofNetwork = waiting.filter((one) => one.network === network).length;
    if (waiting.length >= mostWaiting || ofNetwork >= mostWaiting / 2) throw new WorkQueueFull();
  }

  async function enqueue<T>(network: string, work: () => Promise<T>): Promise<T> {
    refuseWhenFull(network);
    if (running < atOnce) running += 1;
    else await new Promise<void>((begin) => waiting.push({ network, begin }));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next.begin();
      else running -= 1;
    }
  }

  return { enqueue, refuseWhenFull, length: () => ({ running, waiting: waiting.length }) };
}
