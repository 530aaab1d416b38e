import { beforeEach, expect, it } from 'vitest';
import { ProviderFailure } from '../provider-failure.ts';
import { keepFresh } from './keep-fresh.ts';

const patience = 2000;
const never = new AbortController().signal;

let time: number;
let readings: PromiseWithResolvers<string>[];
beforeEach(() => {
  time = Date.UTC(2026, 0, 1);
  readings = [];
});

function kept() {
  const read = () => {
    const reading = Promise.withResolvers<string>();
    readings.push(reading);
    return reading.promise;
  };
  return keepFresh({ read, now: () => new Date(time), patience, onFailure: () => {} });
}

it('OI-24 callers share a reading, but none that has hung for a while: the provider may be back', async () => {
  const { get, last } = kept();
  const first = [get(never), get(never)];
  expect(readings).toHaveLength(1);
  time += patience;
  const second = get(never);
  expect(readings).toHaveLength(2);
  readings[1]?.resolve('back');
  expect(await second).toBe('back');
  expect(last()).toBe('back');
  readings[0]?.reject(new ProviderFailure('did not answer in time', 'silent'));
  for (const one of first) await expect(one).rejects.toThrow('in time');
  expect(await get(never)).toBe('back');
  expect(readings).toHaveLength(2);
});

it('OI-24 a reading that ends late does not end the sharing of a later one', async () => {
  const { get } = kept();
  const first = get(never);
  time += patience;
  const second = [get(never)];
  readings[0]?.reject(new ProviderFailure('did not answer in time', 'silent'));
  await expect(first).rejects.toThrow('in time');
  second.push(get(never));
  expect(readings).toHaveLength(2);
  readings[1]?.resolve('back');
  expect(await Promise.all(second)).toEqual(['back', 'back']);
});

it('OI-24 an answer that comes late does not replace one that was asked for later', async () => {
  const { get, last } = kept();
  const first = get(never);
  time += patience;
  const second = get(never);
  readings[1]?.resolve('new');
  readings[0]?.resolve('old');
  expect([await first, await second]).toEqual(['old', 'new']);
  expect(last()).toBe('new');
});
