import { afterEach, expect, it, vi } from 'vitest';
import { makePasskey } from './enrol.ts';

afterEach(() => vi.unstubAllGlobals());

it.each([
  [401, 'old'],
  [409, 'old'],
  [429, 'busy'],
  [503, 'busy'],
])('a %i in place of the options is told as %s', async (status, problem) => {
  vi.stubGlobal('fetch', async () => new Response(null, { status }));
  expect(await makePasskey('/options', 'id')).toEqual({ problem });
});
