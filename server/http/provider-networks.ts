import { type LookupAddress, lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { canonicalIpAddress } from '#contract/ip-address.ts';
import { familyOf, parseNetworkList } from '../names/network-list.ts';
import { NetworkNotListed } from './provider-failure.ts';

/** IPv4 networks outside the public internet (RFC 6890): this host, private, link-local, test, multicast. */
const notPublic = parseNetworkList([
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24'],
  ...['192.168.0.0/16', '198.18.0.0/15', '224.0.0.0/4', '240.0.0.0/4'],
  // IPv6 networks that embed IPv4 addresses: Teredo and 6to4.
  ...['2001::/32', '2002::/16'],
]).networks;

/** Contains all public IPv6, and no translated IPv4 (64:ff9b::/96), link-local or loopback addresses. */
const publicIpv6 = parseNetworkList(['2000::/3']).networks;

/** Whether requests may go to an address: it is public, or the operator listed its network for the connection. */
export function mayReach(address: string, listed: readonly string[]): boolean {
  // A zone names the link, which the address already implies.
  const canonical = canonicalIpAddress(address.replace(/%.*$/, ''));
  if (canonical === null) return false;
  const family = familyOf(canonical);
  if (parseNetworkList(listed).networks.check(canonical, family)) return true;
  return !notPublic.check(canonical, family) && (family === 'ipv4' || publicIpv6.check(canonical, family));
}

/** Why a URL is refused, if its host shows that without a lookup; null otherwise. */
export function refusedByHost({ hostname }: URL, listed: readonly string[]): NetworkNotListed | null {
  const host = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  const addresses = /(?:^|\.)localhost$/.test(host) ? ['127.0.0.1', '::1'] : isIP(host) === 0 ? null : [host];
  if (!addresses || addresses.some((address) => mayReach(address, listed))) return null;
  return new NetworkNotListed(host, addresses);
}

/**
 * Looks up a host for `connect` and returns only the allowed addresses: the address connected to is the one checked,
 * whatever the name resolves to a moment later.
 */
export function lookupWithin(listed: readonly string[], lookUp: typeof lookup = lookup): LookupFunction {
  return (hostname, options, callback) =>
    lookUp(hostname, { ...options, all: true }, (error: Error | null, found: LookupAddress[]) => {
      if (error) return callback(error, []);
      const good = found.filter(({ address }) => mayReach(address, listed));
      const [first] = good;
      const addresses = found.map(({ address }) => address);
      if (!first) return callback(new NetworkNotListed(hostname, addresses), []);
      if (options.all) callback(null, good);
      else callback(null, first.address, first.family);
    });
}
