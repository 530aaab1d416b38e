import { describe, expect, it } from 'vitest';
import {
  fairLine,
  joinLine,
  mayReplace,
  type Origin,
  takeNext,
  takeReplaced,
  type WorkQueue,
  WorkQueueFull,
  workQueue,
} from './work-queue.ts';

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

/** A line of items named by their origin and number: `a1` is the first of `a`, `s.x1` the first of `x` in the network `s`. */
function lineOf(...names: string[]) {
  const line = fairLine<string>();
  for (const name of names) joinLine(line, originOf(name), name);
  return line;
}

const originOf = (name: string) => name.replace(/\d+$/, '').split('.') as unknown as Origin;

/** `many('a', 3)` is a1, a2, a3. */
const many = (origin: string, count: number) => Array.from({ length: count }, (_, n) => `${origin}${n + 1}`);

function takeAll(line: ReturnType<typeof lineOf>): string[] {
  const taken = Array.from({ length: line.length }, () => takeNext(line) as string);
  expect([line.length, takeNext(line), line.length, line.parts.size]).toEqual([0, undefined, 0, 0]);
  return taken;
}

it('LM-08 origins take turns; within one it is first come, first served', () => {
  expect(takeAll(lineOf('a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'b2'))).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4']);
  expect(takeAll(lineOf())).toEqual([]);
});

it('LM-08 who had a turn and comes again is behind those who still wait for theirs', () => {
  const line = lineOf('a1', 'b1', 'c1');
  expect(takeNext(line)).toBe('a1');
  joinLine(line, ['a'], 'a2');
  joinLine(line, ['d'], 'd1');
  expect(takeAll(line)).toEqual(['b1', 'c1', 'a2', 'd1']);
});

it('LM-08 a network has one turn, whatever it is divided into, and its parts share that', () => {
  expect(takeAll(lineOf('s.x1', 's.x2', 's.y1', 's.z1', 'b1', 'b2', 'b3'))).toEqual([
    's.x1',
    'b1',
    's.y1',
    'b2',
    's.z1',
    'b3',
    's.x2',
  ]);
});

it('LM-08 a newcomer gets the place of the newest of the origin with the most', () => {
  const line = lineOf(...many('a', 3), ...many('b', 5), 'c1');
  for (const [newcomer, replaced] of [
    ['d', 'b5'],
    ['c', 'b4'],
    ['e.f', 'a3'],
  ] as const) {
    expect(mayReplace(line, originOf(newcomer))).toBe(true);
    expect(takeReplaced(line, originOf(newcomer))).toBe(replaced);
    joinLine(line, originOf(`${newcomer}9`), `${newcomer}9`);
  }
  expect(line.length).toBe(9);
});

it('LM-08 but only if they have fewer even then: a place does not go to and fro', () => {
  for (const [names, newcomer] of [
    [[], 'a'],
    [many('a', 5), 'a'],
    [['a1', 'b1', 'c1'], 'd'],
    [[...many('a', 3), ...many('b', 2)], 'b'],
    [['s.x1', 's.x2', 's.y1'], 's.y'],
    [['s.x1', 's.y1', 'b1', 'b2'], 's.z'],
  ] as const) {
    const line = lineOf(...names);
    expect(mayReplace(line, originOf(newcomer)), `${newcomer} to ${names}`).toBe(false);
    expect(takeReplaced(line, originOf(newcomer))).toBeUndefined();
    expect(takeAll(line).toSorted()).toEqual([...names].toSorted());
  }
});

it('LM-08 a network of many origins makes place for others, and within it the origin with the most does', () => {
  const line = lineOf('s.w1', ...many('s.x', 3), 's.y1', 's.z1', 'b1');
  expect(takeReplaced(line, ['c'])).toBe('s.x3');
  expect(takeReplaced(line, ['s', 'v'])).toBe('s.x2');
  expect(takeReplaced(line, ['s', 'v'])).toBeUndefined();
  expect(takeReplaced(line, ['c'])).toBe('s.w1');
  expect(takeAll(line)).toEqual(['s.x1', 'b1', 's.y1', 's.z1']);
});
