import type { IncomingMessage } from 'node:http';
import { isPortalCookie } from '../http/cookies.ts';
import { hopByHop, tokens } from './hop-by-hop.ts';

/**
 * The headers of the hub's answer as the visitor gets them, names and values in turn: as they are, but without those for
 * one connection, trailers included, and without cookies by the names of the portal's.
 */
export function returnedHeaders({ rawHeaders, headers }: IncomingMessage): string[] {
  const named = tokens(headers.connection).filter((name) => name !== 'content-length');
  const returned: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const [name = '', value = ''] = rawHeaders.slice(index, index + 2);
    const lower = name.toLowerCase();
    if (hopByHop.includes(lower) || named.includes(lower)) continue;
    if (lower === 'set-cookie' && isPortalCookie(value)) continue;
    returned.push(name, value);
  }
  return returned;
}
