import { expect, it } from 'vitest';
import { askedTogether } from './asked-together.ts';

const turn = () => new Promise(setImmediate);

/** Doubles numbers, and notes which were asked together. */
function doubling() {
  const calls: number[][] = [];
  const ask = askedTogether(async (numbers: readonly number[]) => {
    calls.push([...numbers]);
    await turn();
    if (numbers.includes(13)) throw new Error('thirteen');
    return numbers.map((number) => 2 * number);
  });
  return { ask, calls };
}

it('what is asked in one turn is asked by one call, and each gets its own answer', async () => {
  const { ask, calls } = doubling();
  expect(await Promise.all([ask(1), ask(2), ask(3)])).toEqual([2, 4, 6]);
  expect(calls).toEqual([[1, 2, 3]]);
});

it('what is asked in a later turn waits for nothing before it', async () => {
  const { ask, calls } = doubling();
  const first = ask(1);
  await turn();
  const second = ask(2);
  expect(await Promise.all([first, second])).toEqual([2, 4]);
  expect(calls).toEqual([[1], [2]]);
});

it('while two calls are under way, later questions wait for one of them, and go together', async () => {
  const calls: number[][] = [];
  const ends: (() => void)[] = [];
  const ask = askedTogether(async (numbers: readonly number[]) => {
    calls.push([...numbers]);
    await new Promise<void>((resolve) => ends.push(resolve));
    return numbers;
  });
  const asked: Promise<number>[] = [];
  for (const number of [1, 2, 3, 4]) {
    asked.push(ask(number));
    await turn();
  }
  expect(calls).toEqual([[1], [2]]);
  ends[0]?.();
  await turn();
  expect(calls).toEqual([[1], [2], [3, 4]]);
  for (const end of ends) end();
  expect(await Promise.all(asked)).toEqual([1, 2, 3, 4]);
});

it('a call that is slow keeps nobody waiting', async () => {
  const calls: number[][] = [];
  const ask = askedTogether(async (numbers: readonly number[]) => {
    calls.push([...numbers]);
    if (calls.length <= 2) await new Promise(() => {});
    return numbers;
  });
  void ask(1);
  await turn();
  void ask(2);
  await turn();
  const third = ask(3);
  await turn();
  const fourth = ask(4);
  expect(await Promise.all([third, fourth])).toEqual([3, 4]);
  expect(calls).toEqual([[1], [2], [3, 4]]);
});

it('a failure reaches all of its turn, and nobody later', async () => {
  const { ask } = doubling();
  const asked = await Promise.allSettled([ask(1), ask(13)]);
  expect(asked.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await ask(2)).toBe(4);
});
