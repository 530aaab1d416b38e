import type { FastifyBaseLogger } from 'fastify';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type Outcome, startWorker, type Worker, type WorkerOptions } from './worker.ts';

const second = 1000;
const errors: unknown[] = [];
const log = { error: (line: unknown, text: string) => errors.push([line, text]) } as unknown as FastifyBaseLogger;

let worker: Worker;
/** Pieces of work in progress, in starting order. */
let begun: PromiseWithResolvers<Outcome>[];
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'performance'] });
  errors.length = 0;
  begun = [];
});
afterEach(async () => {
  const stopped = worker.stop();
  for (const { resolve } of begun) resolve('nothing');
  await stopped;
  vi.useRealTimers();
});

/** Starts a worker whose pieces of work are ended by the test; returns how many have started. */
function begin(options: Partial<WorkerOptions> = {}): () => number {
  let inAll = 0;
  const work = () => {
    const piece = Promise.withResolvers<Outcome>();
    begun.push(piece);
    inAll += 1;
    return piece.promise;
  };
  worker = startWorker({ name: 'testing', work, lookEvery: second, log, ...options });
  return () => inAll;
}

const underWay = () => begun.length;

/** Ends pieces, oldest first, and lets their consequences run. */
async function end(...outcomes: (Outcome | Error)[]): Promise<void> {
  for (const outcome of outcomes) {
    const piece = begun.shift();
    if (!piece) throw new Error('nothing is under way');
    if (outcome instanceof Error) piece.reject(outcome);
    else piece.resolve(outcome);
  }
  await settle();
}

/** Lets every pending microtask and immediate callback run. */
const settle = () => new Promise(setImmediate);
async function pass(time: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(time);
  await settle();
}

it('starts at once, continues while there is more, then polls', async () => {
  begin();
  expect(underWay()).toBe(1);
  for (let n = 0; n < 3; n += 1) {
    await end('more');
    expect(underWay()).toBe(1);
  }
  await end('nothing');
  expect(underWay()).toBe(0);
  await pass(second - 1);
  expect(underWay()).toBe(0);
  await pass(1);
  expect(underWay()).toBe(1);
  await end('nothing');
});

it('logs an error and tries again at the next poll, not sooner', async () => {
  begin();
  const error = new Error('broken');
  await end(error);
  expect(errors).toEqual([[{ err: error }, 'testing failed']]);
  worker.wake();
  await settle();
  expect(underWay()).toBe(0);
  await pass(second);
  expect(underWay()).toBe(1);
  await end('nothing');
});

it('rests while a server is down, twice as long each time up to a minute, whoever wakes it, until it is back', async () => {
  begin();
  for (const rest of [1, 2, 4, 8, 16, 32, 60, 60]) {
    await end('away');
    for (let n = 1; n < rest; n += 1) {
      worker.wake();
      await pass(second);
      expect(underWay()).toBe(0);
    }
    await pass(second);
    expect(underWay()).toBe(1);
  }
  await end('more');
  await end('away');
  await pass(second);
  expect(underWay()).toBe(1);
  await end('nothing');
});

it('on stop, waits for what is under way, and starts nothing new', async () => {
  begin({ atOnce: 2 });
  worker.wake();
  let isStopped = false;
  const stopped = worker.stop().then(() => {
    isStopped = true;
  });
  await end('more');
  expect([isStopped, underWay()]).toEqual([false, 1]);
  await end(new Error('late'));
  expect([isStopped, underWay()]).toEqual([true, 0]);
  await stopped;
  worker.wake();
  await pass(10 * second);
  expect(underWay()).toBe(0);
});
