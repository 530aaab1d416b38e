import { BlockList, isIP } from 'node:net';
import { canonicalIpAddress } from '#contract/ip-address.ts';

/** Reads a list of addresses and CIDR networks; `invalid` are the entries that are neither. */
export function parseNetworkList(texts: readonly string[]): { networks: BlockList; invalid: string[] } {
  const networks = new BlockList();
  const invalid: string[] = [];
  for (const text of texts) {
    const [start = '', bits, ...rest] = text.split('/');
    const address = canonicalIpAddress(start);
    const longest = address && isIP(address) === 4 ? 32 : 128;
    const length = bits === undefined ? longest : /^\d{1,3}$/.test(bits) ? Number(bits) : Number.NaN;
    if (!address || rest.length > 0 || !(length <= longest)) invalid.push(text);
    else networks.addSubnet(address, length, familyOf(address));
  }
  return { networks, invalid };
}

/**
 * The client's address in canonical form (decisions §7): the socket's, or, as far as the peers are trusted proxies,
 * the rightmost entry of X-Forwarded-For that no trusted proxy wrote. Null when it cannot be told for sure: an entry
 * that does not parse, or a trusted proxy that sent no header. Null means refuse, never skip.
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

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 4 ? 'ipv4' : 'ipv6';
}
