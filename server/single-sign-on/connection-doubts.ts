import type { SsoConnection } from '../storage/sso-connection.ts';
import { isPublicMailDomain } from './public-mail-domains.ts';

/**
 * Settings that are allowed but hardly intended, in words for the operator: names that visitors cannot distinguish,
 * public email domains, domains where nobody can sign in. Disabled connections are ignored, as nobody can choose them.
 */
export function doubtsOf(connections: readonly SsoConnection[]): string[] {
  const active = connections.filter((connection) => connection.active);
  return [...lookAlikes(active), ...publicDomains(active), ...lockedDomains(connections)];
}

/** The doubts that concern one of the connections. */
export function doubtsAbout(key: string, connections: readonly SsoConnection[]): string[] {
  const without = new Set(doubtsOf(connections.filter((connection) => connection.key !== key)));
  return doubtsOf(connections).filter((doubt) => !without.has(doubt));
}

function lookAlikes(connections: readonly SsoConnection[]): string[] {
  return pairsOf(connections).flatMap(([one, other]) => {
    const shared = one.domains.filter((domain) => other.domains.includes(domain));
    if (shared.length === 0 || asSeen(one.name) !== asSeen(other.name)) return [];
    return [
      `people of ${shared.join(', ')} cannot tell connections ${one.key} and ${other.key} apart, both are called ` +
        `${JSON.stringify(one.name)} – vestibule connection set ${other.key} --name <name>`,
    ];
  });
}

/** A name without differences that are easily overlooked: case and repeated spaces. */
function asSeen(name: string): string {
  return name.normalize('NFKC').replace(/\s+/g, ' ').trim().toLowerCase();
}

function publicDomains(connections: readonly SsoConnection[]): string[] {
  return connections.flatMap(({ key, domains }) => {
    const found = domains.filter(isPublicMailDomain);
    if (found.length === 0) return [];
    return [
      `connection ${key} vouches for ${found.join(', ')}, where anyone can have an address – ` +
        `vestibule connection set ${key} --domain <domain> limits it to its own domains`,
    ];
  });
}

function lockedDomains(connections: readonly SsoConnection[]): string[] {
  const required = new Set(connections.filter((one) => one.required).flatMap(({ domains }) => domains));
  const usable = new Set(connections.filter((one) => one.active).flatMap(({ domains }) => domains));
  const locked = [...required].filter((domain) => !usable.has(domain)).sort();
  if (locked.length === 0) return [];
  return [
    `nobody in ${locked.join(', ')} can sign in: single sign-on is required there but disabled – ` +
      'vestibule connection set <key> --enable, or --required off',
  ];
}

function pairsOf<T>(items: readonly T[]): [T, T][] {
  return items.flatMap((one, index) => items.slice(index + 1).map((other): [T, T] => [one, other]));
}
