import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Deps } from '../deps/deps.ts';
import { refuse } from '../http/refuse.ts';
import { countAttempt } from '../storage/throttle.ts';
import { keepPasskeyBrowserToken } from './browser-token.ts';
import { type BrowserToCount, keysOfBegun } from './keys-of-browser.ts';

/** The token of the browser that a ceremony begins in; null if it has to wait, which is then answered with 429. */
export async function browserToBegin(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  browser: BrowserToCount,
): Promise<string | null> {
  const now = deps.now();
  const until = await countAttempt(deps.sql, await keysOfBegun(deps, browser), now);
  if (until === null) return keepPasskeyBrowserToken(request, reply, deps.config);
  await refuse(deps, request, reply, 429, { retryAfter: until.getTime() - now.getTime() });
  return null;
}
