import type { BlockList } from 'node:net';
import { canonicalIpAddress } from '#contract/addresses.ts';
import { familyOf } from '../names/network.ts';

/**
 * The client's address in canonical form: the socket's or, behind trusted proxies, the rightmost entry
 * of X-Forwarded-For that no trusted proxy wrote. Null if it is uncertain: an entry does not parse, or a trusted proxy
 * sent no header. Null means refuse, never skip.
 */
export function clientAddress(
  socketAddress: string | undefined,
  forwardedFor: string | string[] | undefined,
  trustedProxies: BlockList,
): string | null {
  const peer = canonicalIpAddress(socketAddress ?? '');
  if (!peer || !isTrusted(peer, trustedProxies)) return peer;
  const entries = [forwardedFor ?? []]
    .flat()
    .join(',')
    .split(',')
    .map((entry) => entry.trim());
  for (const entry of entries.reverse()) {
    const address = canonicalIpAddress(entry);
    if (!address || !isTrusted(address, trustedProxies)) return address;
  }
  return canonicalIpAddress(entries.at(-1) ?? '');
}

function isTrusted(address: string, trustedProxies: BlockList): boolean {
  return trustedProxies.check(address, familyOf(address));
}

/** Whether a socket's address is a trusted proxy's. */
export function isTrustedProxy(socketAddress: string | undefined, trustedProxies: BlockList): boolean {
  const peer = canonicalIpAddress(socketAddress ?? '');
  return peer !== null && isTrusted(peer, trustedProxies);
}
