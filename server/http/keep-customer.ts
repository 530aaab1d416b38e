import type { onSendHookHandler } from 'fastify';
import { accountSectionOf } from '#contract/account.ts';
import { calls } from '#contract/calls.ts';
import { hubStartPath, queryNames, screenOfPath } from '#contract/screens.ts';
import type { Deps } from '../deps/deps.ts';
import { brandOfRequest } from './brand-of-request.ts';

/**
 * Keeps `?customer=` in every redirect to one of our own pages, as the pages' own links and forms do: the brand belongs
 * to the tab, so it travels in addresses and not in a cookie. The hub's addresses stay as they are.
 */
export function keepCustomer({ brands, config }: Pick<Deps, 'brands' | 'config'>): onSendHookHandler {
  return function keep(request, reply, payload, done) {
    const location = reply.getHeader('location');
    if (typeof location === 'string') {
      const { key } = brandOfRequest(brands, request);
      if (key !== null && isOwnPage(location, config)) reply.header('location', withCustomer(location, key));
    }
    done(null, payload);
  };
}

/** An address of ours with the customer whose brand it shows, unless it names one. */
export function withCustomer(url: string, key: string): string {
  const [, path = '', search = '', fragment = ''] = /^([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(url) ?? [];
  if (new URLSearchParams(search).has(queryNames.customer)) return url;
  const before = search === '' || search === '?' ? '?' : `${search}&`;
  return `${path}${before}${queryNames.customer}=${key}${fragment}`;
}

const ownCalls: readonly string[] = Object.values(calls).map(({ path }) => path);

function isOwnPage(location: string, { basePath, hub }: Deps['config']): boolean {
  const path = location.split(/[?#]/, 1)[0] ?? '';
  if (path !== basePath && !path.startsWith(`${basePath}/`)) return false;
  const below = path.slice(basePath.length);
  if (below === hubStartPath) return hub === null;
  if (accountSectionOf(below) !== null) return true;
  return screenOfPath(below).name !== 'notFound' || ownCalls.includes(below);
}
