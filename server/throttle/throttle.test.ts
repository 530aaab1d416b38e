import { expect, it } from 'vitest';
import { databaseForTest } from '#test/support/database-for-test.ts';
import { sharedByFile } from '#test/support/portal-of-file.ts';
import { countThrottleAttempt } from '#test/support/rows-for-test.ts';
import { limits } from '../limits.ts';
import { unknownNameKey } from './throttle-keys.ts';

const limit = limits.throttle.account;
const database = sharedByFile(databaseForTest);

it('BF-01 instances whose clocks differ allow as many failures as one does', async () => {
  const key = { key: unknownNameKey('nobody'), limit };
  const [ahead, behind] = [new Date('2026-03-04T10:00:00.050Z'), new Date('2026-03-04T10:00:00Z')];
  const admitted: boolean[] = [];
  for (let n = 0; n < limit.freeFailures; n += 1)
    admitted.push(await countThrottleAttempt(database.sql, key, n % 2 ? behind : ahead));
  expect(admitted).toEqual(admitted.map(() => true));
  expect(await countThrottleAttempt(database.sql, key, behind)).toBe(false);
});
