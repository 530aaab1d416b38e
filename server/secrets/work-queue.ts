/** More work waits than may. */
export class WorkQueueFull extends Error {}

/**
 * A line for heavy work: at most `atOnce` pieces run, at most `mostWaiting` wait, in the order of arrival; more throws
 * WorkQueueFull. A place is kept until its work ends, whether or not anybody still waits for the result, so that
 * leaving early buys nobody a second one.
 */
export function workQueue(atOnce: number, mostWaiting: number): <T>(work: () => Promise<T>) => Promise<T> {
  let running = 0;
  const waiting: (() => void)[] = [];

  return async function inTurn(work) {
    if (running < atOnce) running += 1;
    else {
      if (waiting.length >= mostWaiting) throw new WorkQueueFull();
      await new Promise<void>((resolve) => waiting.push(resolve));
    }
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
}
