import { describe, expect, it } from 'vitest';
import { type WorkQueue, WorkQueueFull, workQueue } from './work-queue.ts';

/** Work that ends on command; the network of each piece is given. */
function works({ enqueue }: WorkQueue, networks: readonly string[]) {
  const started: number[] = [];
  const ends: (() => void)[] = [];
  const results = networks.map((network, index) =>
    enqueue(network, async () => {
      started.push(index);
      await new Promise<void>((resolve) => {
        ends[index] = resolve;
      });
      return index;
    }),
  );
  for (const result of results) result.catch(() => {});
  return { started, ends, results };
}

const nextLoop = () => new Promise((resolve) => setImmediate(resolve));

describe('the queue of heavy work', () => {
  it('LM-08 runs a fixed number at once, queues a fixed number in order, and refuses the surplus at once', async () => {
    const queue = workQueue(2, 4);
    const { started, ends, results } = works(queue, ['a', 'b', 'c', 'd', 'e', 'f', 'g']);
    await nextLoop();
    expect(started).toEqual([0, 1]);
    await expect(results[6]).rejects.toBeInstanceOf(WorkQueueFull);
    expect(() => queue.refuseWhenFull('h')).toThrow(WorkQueueFull);
    for (const index of [0, 1, 2, 3, 4, 5]) {
      ends[index]?.();
      await nextLoop();
    }
    expect(started).toEqual([0, 1, 2, 3, 4, 5]);
    expect(queue.length()).toEqual({ running: 0, waiting: 0 });
  });

  it('LM-08 one network has half of the places, and the others are left to others', async () => {
    const queue = workQueue(1, 4);
    const { results } = works(queue, ['a', 'a', 'a', 'a']);
    await expect(results[3]).rejects.toBeInstanceOf(WorkQueueFull);
    expect(() => queue.refuseWhenFull('a')).toThrow(WorkQueueFull);
    queue.refuseWhenFull('b');
    works(queue, ['b', 'b']);
    expect(queue.length()).toEqual({ running: 1, waiting: 4 });
  });

  it('LM-09 keeps a place until its work ends, even if nobody waits for it', async () => {
    const { started, ends, results } = works(workQueue(1, 10), ['a', 'a', 'a']);
    await Promise.race([results[0], nextLoop()]);
    await nextLoop();
    expect(started).toEqual([0]);
    ends[0]?.();
    await nextLoop();
    expect(started).toEqual([0, 1]);
  });

  it('releases the place of work that fails', async () => {
    const { enqueue } = workQueue(1, 100);
    const fail = () => enqueue('a', () => Promise.reject(new Error('failed')));
    const outcomes = await Promise.allSettled([fail(), fail(), enqueue('a', async () => 'done')]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled']);
  });
});
