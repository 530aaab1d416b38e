import { describe, expect, it } from 'vitest';
import type { Origin } from './fair-line.ts';
import { type WorkQueue, WorkQueueFull, workQueue } from './work-queue.ts';

const here: Origin = ['here'];
const elsewhere: Origin = ['elsewhere'];

/** Work that ends on command; the origin of each piece is given. */
function works({ inTurn }: WorkQueue, origins: readonly Origin[]) {
  const started: number[] = [];
  const ends: (() => void)[] = [];
  const results = origins.map((origin, index) =>
    inTurn(origin, async () => {
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

const turn = () => new Promise((resolve) => setImmediate(resolve));
const times = (count: number, origin: Origin) => Array<Origin>(count).fill(origin);

describe('the queue of heavy work', () => {
  it('LM-08 runs a fixed number at once, queues a fixed number, and refuses the surplus at once', async () => {
    const { started, ends, results } = works(workQueue(2, 3), times(8, here));
    await turn();
    expect(started).toEqual([0, 1]);
    const surplus = await Promise.allSettled(results.slice(5));
    for (const { status, ...rest } of surplus) {
      expect(status).toBe('rejected');
      expect((rest as { reason: unknown }).reason).toBeInstanceOf(WorkQueueFull);
    }
    for (const index of [0, 1, 2, 3, 4]) {
      ends[index]?.();
      await turn();
    }
    expect(await Promise.all(results.slice(0, 5))).toEqual([0, 1, 2, 3, 4]);
    expect(started).toEqual([0, 1, 2, 3, 4]);
  });

  it('LM-08 who comes from elsewhere is next, and gets a place of the origin with the most, whose newest is refused', async () => {
    const queue = workQueue(1, 3);
    const { started, ends, results } = works(queue, [...times(4, here), elsewhere]);
    expect(queue.length()).toEqual({ running: 1, waiting: 3 });
    await expect(results[3]).rejects.toBeInstanceOf(WorkQueueFull);
    for (const index of [0, 1, 4]) {
      ends[index]?.();
      await turn();
    }
    expect(started).toEqual([0, 1, 4, 2]);
    expect(queue.length()).toEqual({ running: 1, waiting: 0 });
  });

  it('LM-08 says beforehand whom it would refuse', async () => {
    const queue = workQueue(1, 2);
    works(queue, times(2, here));
    queue.refuseWhenFull(here);
    works(queue, [here]);
    expect(() => queue.refuseWhenFull(here)).toThrow(WorkQueueFull);
    queue.refuseWhenFull(elsewhere);
    works(queue, [elsewhere]);
    expect(() => queue.refuseWhenFull(elsewhere)).toThrow(WorkQueueFull);
    expect(queue.length()).toEqual({ running: 1, waiting: 2 });
  });

  it('LM-09 keeps a place until its work ends, even if nobody waits for it', async () => {
    const { started, ends, results } = works(workQueue(1, 10), times(3, here));
    await Promise.race([results[0], turn()]);
    await turn();
    expect(started).toEqual([0]);
    ends[0]?.();
    await turn();
    expect(started).toEqual([0, 1]);
  });

  it('releases the place when work fails, and never exceeds the number of places', async () => {
    const { inTurn } = workQueue(2, 100);
    let running = 0;
    let most = 0;
    const attempts: Promise<void>[] = [];
    // New work arrives while other work runs, waits and ends.
    for (let index = 0; index < 50; index += 1) {
      const attempt = inTurn(index % 3 === 0 ? elsewhere : here, async () => {
        running += 1;
        most = Math.max(most, running);
        await turn();
        running -= 1;
        if (index % 2 === 0) throw new Error('failed');
      });
      attempt.catch(() => {});
      attempts.push(attempt);
      if (index % 3 === 0) await turn();
    }
    const failed = (await Promise.allSettled(attempts)).filter(({ status }) => status === 'rejected');
    expect({ most, failed: failed.length, running }).toEqual({ most: 2, failed: 25, running: 0 });
    expect(await inTurn(here, async () => 'free')).toBe('free');
  });
});
