import { isIP } from 'node:net';
import type { ConfigFile } from './config-file.ts';

/** A machine's names for itself; plain http is only allowed for them. */
export const loopbackNames = ['localhost', '127.0.0.1', '[::1]'];

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
