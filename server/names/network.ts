import { BlockList, isIP } from 'node:net';
import { canonicalIpAddress } from '#contract/addresses.ts';
import type { Reading } from './read-name.ts';

/**
 * Reads a network in CIDR form (`203.0.113.0/24`, `2001:db8::/32`); a single address is a network of its own. Strict:
 * an address with host bits is refused, not widened. IPv4-mapped IPv6 becomes IPv4.
 */
export function readNetwork(text: string): Reading {
  const no = (problem: string): Reading => ({ kind: 'refused', problem: `network: ${problem}` });
  const [written = '', prefixText, ...rest] = text.trim().split('/');
  const address = canonicalIpAddress(written);
  if (address === null || rest.length > 0)
    return no(`${JSON.stringify(text.slice(0, 100))} is not a network such as 203.0.113.0/24`);
  const mapped = written.includes(':') && !address.includes(':');
  const bits = address.includes(':') ? 128 : 32;
  const prefix = prefixText === undefined ? bits : readPrefix(prefixText, mapped ? 96 : 0, bits);
  if (prefix === null)
    return no(`${JSON.stringify(prefixText)} is not a prefix length from ${mapped ? 96 : 0} to ${mapped ? 128 : bits}`);
  const network = `${firstAddress(address, prefix)}/${prefix}`;
  if (network === `${address}/${prefix}`) return { kind: 'ok', value: network };
  return no(
    `${text.trim()} is an address inside a network: write ${network} for the network or ${address} for the address alone`,
  );
}

function readPrefix(text: string, offset: number, bits: number): number | null {
  if (!/^(?:0|[1-9]\d{0,2})$/.test(text)) return null;
  const prefix = Number(text) - offset;
  return prefix >= 0 && prefix <= bits ? prefix : null;
}

/** The address with every bit after the prefix cleared. */
function firstAddress(address: string, prefix: number): string {
  const cleared = address.includes(':')
    ? clearBits(groupsOf(address), 16, prefix)
        .map((group) => group.toString(16))
        .join(':')
    : clearBits(address.split('.').map(Number), 8, prefix).join('.');
  return canonicalIpAddress(cleared) as string;
}

function clearBits(parts: number[], size: number, prefix: number): number[] {
  return parts.map((part, index) => {
    const kept = Math.min(size, Math.max(0, prefix - index * size));
    return (part >> (size - kept)) << (size - kept);
  });
}

/** The eight groups of a canonical IPv6 address. */
export function groupsOf(address: string): number[] {
  const [head = '', tail] = address.split('::');
  const numbers = (text: string) => (text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16)));
  if (tail === undefined) return numbers(head);
  const [before, after] = [numbers(head), numbers(tail)];
  return [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after];
}

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
