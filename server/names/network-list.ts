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

/** node:net's name for the family of a canonical address. */
export function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 4 ? 'ipv4' : 'ipv6';
}
