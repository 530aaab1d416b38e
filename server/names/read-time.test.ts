import { expect, it, test } from 'vitest';
import { eachRow } from '#test/support/runs-all.ts';
import { readTime } from './read-time.ts';

it.each([
  ['2024-02-29', '2024-02-29T00:00:00.000Z'],
  [' 2026-03-01T10:00:00Z ', '2026-03-01T10:00:00.000Z'],
  ['2026-03-01t10:00z', '2026-03-01T10:00:00.000Z'],
  ['2024-03-31 02:30:00', '2024-03-31T02:30:00.000Z'],
  ['2024-03-31 02:30:00.123+01', '2024-03-31T01:30:00.123Z'],
  ['2020-01-02 03:04:05.1234567 -05:30', '2020-01-02T08:34:05.123Z'],
])('%j is %s', (text, moment) => expect(readTime(text)?.toISOString()).toBe(moment));

test('a day that does not exist, and anything else, is none', () =>
  eachRow(
    [
      ...['2024-02-30', '2024-02-30T00:00:00Z', '2023-02-29', '2026-04-31 10:00', '2026-13-01', '2026-03-01T25:00', ''],
      ...['1711850000', '1.3.2026', '2026-3-1', 'yesterday', '2026-03-01T10:00 CET', '2026-03-01x'],
    ],
    (text) => expect(readTime(text)).toBeNull(),
  ));

it('without a zone may mean that of this machine', () => {
  expect(readTime('2026-07-01T10:00', '')).toEqual(new Date(2026, 6, 1, 10));
  expect(readTime('2026-07-01', '')).toEqual(new Date(2026, 6, 1));
});
