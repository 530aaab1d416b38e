import { createHash } from 'node:crypto';
import { isIPv6 } from 'node:net';
import { limits, type ThrottleLimit } from '../limits.ts';

/** A row of the throttle and how fast it fills. */
export type ThrottleKey = { key: string; limit: ThrottleLimit };

/** The key under which a user's wrong passwords are counted, by whatever name they were tried. */
export function accountKey(userId: string): string {
  return `account:${userId}`;
}

/** The key under which the wrong passwords of a browser that signed in before as this user are counted. */
export function deviceKey(deviceHash: Buffer, userId: string): string {
  return `device:${deviceHash.toString('hex')}:${userId}`;
}

/** Whose second factor is open, and by what the first one was proven: a connection, or the password (null). */
export type WayIn = { userId: string; connectionId: string | null };

/**
 * The key under which the codes that were tried for a user are counted, over all half sessions of one way in: a provider
 * must not use up the tries of the password, or of another customer's provider. All of an account is so many times that
 * as it has ways, which are the operator's to give; each asks for its own first factor (docs/decisions/0014).
 */
export function codeKey(way: WayIn): ThrottleKey {
  return { key: `code:${wayText(way)}`, limit: limits.throttle.code };
}

/** The key under which the mails with a code to a user are counted, for one way in like the codes. */
export function codeMailKey(way: WayIn): ThrottleKey {
  return { key: `code-mail:${wayText(way)}`, limit: limits.throttle.codeMail };
}

/** That of the password is what the others begin with. */
function wayText({ userId, connectionId }: WayIn): string {
  return connectionId === null ? userId : `${userId}:${connectionId}`;
}

/** The key of a name that no account has; many names share one, so that the table stays small. */
export function unknownNameKey(fold: string): string {
  const bucket = createHash('sha256').update(fold).digest().readUInt32BE() % limits.unknownNameBuckets;
  return `name:${bucket}`;
}

/** The keys under which requests for a reset link are counted, apart from failed sign-ins. */
export function resetKeys(address: string): ThrottleKey[] {
  return originKeys(address).map(({ key, limit }) => ({ key: `reset-${key}`, limit }));
}

/** The keys under which visits to identity providers are counted that are begun from an address. */
export function ssoKeys(address: string): ThrottleKey[] {
  const [{ key }] = originKeys(address);
  return [{ key: `sso-${key}`, limit: limits.throttle.sso }];
}

/** The keys under which answers of providers from an address are counted that lead nowhere, apart from visits. */
export function failedAnswerKeys(address: string): ThrottleKey[] {
  const [{ key }] = originKeys(address);
  return [{ key: `answer-${key}`, limit: limits.throttle.sso }];
}

/** The key under which logout tokens from an address are counted that were refused, apart from failed sign-ins. */
export function logoutTokenKeys(address: string): ThrottleKey[] {
  const [{ key }] = originKeys(address);
  return [{ key: `logout-${key}`, limit: limits.throttle.logoutToken }];
}

/** The keys under which SAML answers from an address are counted that nobody vouched for. */
export function samlFailureKeys(address: string): ThrottleKey[] {
  const [{ key }] = originKeys(address);
  return [{ key: `saml-${key}`, limit: limits.throttle.samlFailure }];
}

/**
 * The keys under which failures from an address are counted, and those of everybody together. IPv6 counts per /64,
 * since a visitor owns as many addresses in it as he likes, and more widely per /56.
 */
export function originKeys(address: string): [ThrottleKey, ...ThrottleKey[]] {
  const total = { key: 'total', limit: limits.throttle.total };
  if (!isIPv6(address)) return [{ key: `address:${address}`, limit: limits.throttle.address }, total];
  const groups = ipv6Groups(address);
  const site = [...groups.slice(0, 3), (groups[3] as number) & 0xff00];
  return [
    { key: `address:${hex(groups.slice(0, 4))}::/64`, limit: limits.throttle.address },
    { key: `network:${hex(site)}::/56`, limit: limits.throttle.network },
    total,
  ];
}

function ipv6Groups(canonical: string): number[] {
  const [head = '', tail] = canonical.split('::').map((part) => part.split(':').filter(Boolean));
  const groups = tail ? [...head, ...Array(8 - head.length - tail.length).fill('0'), ...tail] : head;
  return [...groups].map((group) => Number.parseInt(group, 16));
}

function hex(groups: number[]): string {
  return groups.map((group) => group.toString(16)).join(':');
}
