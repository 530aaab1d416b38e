import { createHash } from 'node:crypto';
import { isIPv6 } from 'node:net';
import { limits, type ThrottleLimit } from '../limits.ts';
import { groupsOf } from '../names/network.ts';

/** A row of the throttle and how fast it fills. */
export type ThrottleKey = { key: string; limit: ThrottleLimit };

function times(limit: ThrottleLimit, factor: number): ThrottleLimit {
  return { ...limit, freeFailures: limit.freeFailures * factor, leakEvery: limit.leakEvery / factor };
}

/** The limits of an origin by kind: an IPv4 address or IPv6 /64, a /56, a /48, and everybody together. */
export const addressLimits = {
  address: limits.throttle.address,
  network: times(limits.throttle.address, 4),
  site: times(limits.throttle.address, 10),
  total: limits.throttle.total,
};

/** The key for a user's wrong passwords, whichever name was typed. */
export function accountKey(userId: string): string {
  return `account:${userId}`;
}

/** The key for wrong passwords from a browser that signed in as this user before. */
export function deviceKey(deviceHash: Buffer, userId: string): string {
  return `device:${deviceHash.toString('hex')}:${userId}`;
}

/** A first factor of a user that was proven: a sign-in by a connection, or the password (null). */
export type FirstFactor = { userId: string; connectionId: string | null };

/**
 * The key for codes tried for a user, over all half sessions with the same first factor: a provider must not use up the
 * attempts of the password, or of another customer's provider (docs/decisions/0014).
 */
export function codeKey(first: FirstFactor): ThrottleKey {
  return { key: `code:${firstFactorText(first)}`, limit: limits.throttle.code };
}

/** The key for emailed codes to a user, by first factor like the codes. */
export function codeMailKey(first: FirstFactor): ThrottleKey {
  return { key: `code-mail:${firstFactorText(first)}`, limit: limits.throttle.code };
}

/** The key for changes of one kind on a user's account page. */
export function changeKey(what: string, userId: string): ThrottleKey {
  return { key: `change-${what}:${userId}`, limit: limits.throttle.code };
}

/** The key for emails of one kind to a user about what can be repeated at will. */
export function noticeKey(kind: string, userId: string): ThrottleKey {
  return { key: `notice-${kind}:${userId}`, limit: limits.throttle.code };
}

/** The password's key is the prefix of the others. */
function firstFactorText({ userId, connectionId }: FirstFactor): string {
  return connectionId === null ? userId : `${userId}:${connectionId}`;
}

/** The key of an unknown name; many names share one, so that the table stays small. */
export function unknownNameKey(fold: string): string {
  const bucket = createHash('sha256').update(fold).digest().readUInt32BE() % limits.unknownNameBuckets;
  return `name:${bucket}`;
}

/** The keys for requests for a link and for unknown links: of an address and its networks, and everybody's. */
export function resetKeys(address: string): ThrottleKey[] {
  return addressKeys(address).map(({ key, limit }) => ({ key: `reset-${key}`, limit }));
}

/** What a whole company behind one address begins on one morning. */
const company = times(limits.throttle.address, 20);

/** What else is counted for an address, each kind apart. */
const kinds = {
  /** Visits to identity providers. */
  sso: company,
  /** Answers of providers that belong to no visit. */
  answer: company,
  /** Refused logouts of providers, which any page that is open at an address can cause. */
  'provider-logout': limits.throttle.costly,
  /** Ceremonies with a passkey, and their refused answers. */
  passkey: company,
  'passkey-failure': limits.throttle.costly,
};
type ThrottleKind = keyof typeof kinds;

/** The key of a kind for an address, or for a browser that counts by itself. */
export function keyOf(kind: ThrottleKind, from: { address: string } | { deviceHash: Buffer }): ThrottleKey {
  const whose = 'deviceHash' in from ? `device:${from.deviceHash.toString('hex')}` : addressKeys(from.address)[0].key;
  return { key: `${kind}-${whose}`, limit: kinds[kind] };
}

/** The keys for failures from an address, its networks, and everybody's together. */
export function addressKeys(address: string): [ThrottleKey, ...ThrottleKey[]] {
  return [...networkKeys(address), { key: 'total', limit: limits.throttle.total }];
}

/**
 * The keys for an address and its networks, the narrowest first. IPv6 counts per /64, since visitors can choose any address in
 * theirs, and more widely per /56 and /48: many customers of a provider have one, which must not spend everybody's total.
 */
function networkKeys(address: string): [ThrottleKey, ...ThrottleKey[]] {
  if (!isIPv6(address)) return [{ key: `address:${address}`, limit: limits.throttle.address }];
  const groups = groupsOf(address);
  const site = groups.slice(0, 3);
  const network = [...site, (groups[3] as number) & 0xff00];
  return [
    { key: `address:${hex(groups.slice(0, 4))}::/64`, limit: limits.throttle.address },
    { key: `network:${hex(network)}::/56`, limit: addressLimits.network },
    { key: `site:${hex(site)}::/48`, limit: addressLimits.site },
  ];
}

/** The widest network of an address, an IPv6 /48: one has at most half of the places where passwords wait to be hashed. */
export function networkOf(address: string): string {
  return (networkKeys(address).at(-1) as ThrottleKey).key;
}

/** What an event from an address is recorded under once a minute: a /64 is one origin, as in the throttles. */
export function recordKey(what: string, address: string): string {
  return `${what}:${addressKeys(address)[0].key}`;
}

/** What a rule that keeps a user out is recorded under once a minute; invented rules share a few buckets. */
export function accessKey(userId: string, rule: string): string {
  return `access:${userId}:${createHash('sha256').update(rule).digest().readUInt32BE() % limits.accessRuleBuckets}`;
}

function hex(groups: number[]): string {
  return groups.map((group) => group.toString(16)).join(':');
}
