import { fairLine, joinLine, mayReplace, type Origin, takeNext, takeReplaced } from './fair-line.ts';

/** The queue is full. */
export class WorkQueueFull extends Error {}

export type WorkQueue = {
  inTurn: <T>(origin: Origin, work: () => Promise<T>) => Promise<T>;
  /** Throws WorkQueueFull if more work of an origin would be refused: to be called before anything is counted or changed. */
  refuseWhenFull: (origin: Origin) => void;
  /** How many pieces run and wait now. */
  length: () => { running: number; waiting: number };
};

/**
 * A queue for heavy work: at most `atOnce` pieces run and at most `mostWaiting` wait, the origins in turns. If all places are
 * taken, a newcomer gets one of the origin with the most, or throws WorkQueueFull, as does the piece that loses its place. A
 * piece that runs does so until its work ends, even if nobody waits for the result any more, so that disconnecting early gains
 * nobody a second one.
 */
export function workQueue(atOnce: number, mostWaiting: number): WorkQueue {
  let running = 0;
  const waiting = fairLine<{ begin: () => void; refuse: (error: WorkQueueFull) => void }>();

  const isFull = () => running >= atOnce && waiting.length >= mostWaiting;

  function refuseWhenFull(origin: Origin) {
    if (isFull() && !mayReplace(waiting, origin)) throw new WorkQueueFull();
  }

  async function inTurn<T>(origin: Origin, work: () => Promise<T>): Promise<T> {
    refuseWhenFull(origin);
    if (isFull()) takeReplaced(waiting, origin)?.refuse(new WorkQueueFull());
    if (running < atOnce) running += 1;
    else await new Promise<void>((begin, refuse) => joinLine(waiting, origin, { begin, refuse }));
    try {
      return await work();
    } finally {
      const next = takeNext(waiting);
      if (next) next.begin();
      else running -= 1;
    }
  }

  return { inTurn, refuseWhenFull, length: () => ({ running, waiting: waiting.length }) };
}
