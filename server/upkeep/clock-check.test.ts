import { expect, it } from 'vitest';
import { hour, limits, minute } from '#server/limits.ts';
import { portalOfFile } from '#testing/portal-of-file.ts';
import { clockCheck } from './clock-check.ts';

const portal = portalOfFile();

it('RL-08 work waits while the clock is more than an hour from the database’s, either way, and goes on by itself', async () => {
  const told: string[] = [];
  const tell = (_more: unknown, words?: string) => void told.push(words ?? String(_more));
  let offset = 0;
  const now = () => new Date(Date.now() + offset);
  const mayWork = clockCheck({ sql: portal.sql, now, log: { error: tell, info: tell } as never }, 0);
  const at = async (ahead: number) => {
    offset = ahead;
    return await mayWork();
  };
  expect(await at(0)).toBe(true);
  expect(await at(limits.clockTooWrong - minute)).toBe(true);
  expect(await at(24 * hour)).toBe(false);
  expect(await at(-24 * hour)).toBe(false);
  expect(told).toEqual(['the clock is not that of the database: nothing is sent or tidied up here until it is']);
  expect(await at(0)).toBe(true);
  expect(told.slice(1)).toEqual(['the clock is that of the database again']);
});

it('the database is asked once for what is done at the same time, and again after it was away', async () => {
  let asked = 0;
  let isAway = true;
  const sql = async () => {
    if (isAway) throw new Error('away');
    asked += 1;
    return [{ now: new Date() }];
  };
  const mayWork = clockCheck({ sql: sql as never, now: () => new Date(), log: {} as never }, minute);
  await expect(mayWork()).rejects.toThrow('away');
  isAway = false;
  expect(await Promise.all([mayWork(), mayWork()])).toEqual([true, true]);
  expect(await mayWork()).toBe(true);
  expect(asked).toBe(1);
});
