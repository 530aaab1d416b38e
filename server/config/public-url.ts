import { isIP } from 'node:net';
import type { ConfigFile } from './read-config-file.ts';

/** A machine's names for itself; plain http is only allowed for them. */
export const loopbackNames = ['localhost', '127.0.0.1', '[::1]'];

/** Whether we talk to an address, or send visitors there: https, or this machine. */
export function isProviderAddress(text: unknown): text is string {
  const url = typeof text === 'string' ? URL.parse(text) : null;
  if (!url || url.username || url.password) return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && loopbackNames.includes(url.hostname));
}

/** Reads PUBLIC_URL: an origin by https, or of this machine. Adds what is wrong with it to `problems`. */
export function readPublicUrl(text: string, problems: string[]): URL {
  const url = URL.parse(text);
  const fallback = new URL('http://localhost');
  if (!url || !/^https?:$/.test(url.protocol)) {
    problems.push('PUBLIC_URL: must be an address such as https://hub.example.com');
    return fallback;
  }
  if (url.pathname !== '/' || url.search || url.hash || url.username) {
    problems.push('PUBLIC_URL: must be just an origin, without path, query or user');
    return fallback;
  }
  if (url.protocol === 'http:' && !loopbackNames.includes(url.hostname)) {
    problems.push('PUBLIC_URL: must be https; plain http is for localhost only');
    return fallback;
  }
  return url;
}

/**
 * The addresses that the portal answers at: that of PUBLIC_URL or, on this machine, every loopback name.
 */
export function addressesOf({ protocol, hostname, port }: URL): { host: string; origin: string }[] {
  const names = loopbackNames.includes(hostname) ? loopbackNames : [hostname];
  return names.map((name) => {
    const host = port ? `${name}:${port}` : name;
    return { host, origin: `${protocol}//${host}` };
  });
}

/** What passkeys are made for (Web Authentication Level 3, §4): a domain, and the origin whose pages may ask for them. */
export type RelyingParty = { id: string; origin: string };

/**
 * The relying party of an installation; null if its address is a number, which no passkey can be made for. Adds what is wrong
 * with the settings to `problems`.
 */
export function readRelyingParty(
  { hostname, origin }: URL,
  { domain }: NonNullable<ConfigFile['passkeys']> = {},
  problems: string[],
): RelyingParty | null {
  if (hostname.startsWith('[') || isIP(hostname) !== 0) {
    if (domain !== undefined)
      problems.push('passkeys: no passkey can be made for the host of PUBLIC_URL, which is a number');
    return null;
  }
  const id = domain ?? hostname;
  const isParent = hostname.endsWith(`.${id}`) && (id.includes('.') || id === 'localhost');
  if (id !== hostname && !isParent)
    problems.push(`passkeys.domain: ${JSON.stringify(id)} is neither the host of PUBLIC_URL nor a parent of it`);
  return { id, origin };
}
