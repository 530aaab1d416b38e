import type { FastifyRequest } from 'fastify';
import { callUrl } from '#contract/calls.ts';
import type { Config } from '../config/config.ts';
import { splitUrl } from '../http/request-url.ts';

/** What a call asks besides who is signed in, as a query, and the page that it is asked for; null if it doesn't say. */
export type AskedOfSession = { query: string; page: string | null };

/**
 * Reads the address of the session call: `session?customer=acme`, or, for a proxy that appends the address of the page to
 * that of the call (Envoy), `session/for/customer=acme/page?x=1`; a dash stands for no query.
 */
export function askedOfSession({ basePath }: Config, { url }: FastifyRequest): AskedOfSession {
  const before = `${callUrl(basePath, 'session')}/for/`;
  if (!url.startsWith(before)) return { query: splitUrl(url).search, page: null };
  const rest = url.slice(before.length);
  const end = rest.indexOf('/');
  const query = rest.slice(0, end);
  return { query: query === '-' ? '' : query, page: rest.slice(end) };
}
