import { createRequire } from 'node:module';
import { isIP } from 'node:net';
import type { ConfigFile } from './config-file.ts';

/**
 * What passkeys are made for (Web Authentication Level 3, §4): a domain, and the origins whose pages may ask; `related` are those
 * that browsers are told of, as they need not be in the domain (§5.11). Their pages may ask for a sign-in, and for nothing else.
 */
export type RelyingParty = { id: string; origins: string[]; related: string[] };

/**
 * The relying party of an installation; null if its address is a number, which no passkey can be made for. Adds what is wrong
 * with the settings to `problems`.
 */
export function readRelyingParty(
  { hostname, origin }: URL,
  { domain, relatedOrigins = [] }: NonNullable<ConfigFile['passkeys']> = {},
  problems: string[],
): RelyingParty | null {
  if (isNumber(hostname)) {
    if (domain !== undefined || relatedOrigins.length > 0)
      problems.push('passkeys: no passkey can be made for the host of PUBLIC_URL, which is a number');
    return null;
  }
  const id = domain ?? hostname;
  const problem = problemOfDomain(id, hostname);
  if (problem) problems.push(`passkeys.domain: ${JSON.stringify(id)} ${problem}`);
  const related = relatedOrigins.flatMap((text) => {
    const url = URL.parse(text);
    if (url && !isNumber(url.hostname)) return url.origin;
    problems.push(`passkeys.relatedOrigins: ${JSON.stringify(text)} is not an origin such as https://shop.example`);
    return [];
  });
  return { id, origins: [origin], related };
}

function isNumber(hostname: string): boolean {
  return hostname.startsWith('[') || isIP(hostname) !== 0;
}

/** Browsers take the host of a page or a parent that is somebody's own (HTML, §7.1.1.2: registrable domain suffix). */
function problemOfDomain(domain: string, hostname: string): string | null {
  if (domain === hostname) return null;
  if (!hostname.endsWith(`.${domain}`)) return 'is neither the host of PUBLIC_URL nor a parent of it';
  if (domain === 'localhost') return null;
  if (!domain.includes('.') || isShared(domain, hostname))
    return 'is not one owner’s: anybody may have a name below it, so browsers refuse it';
  return null;
}

/**
 * Whether a domain is a public suffix, or a parent of the one that the host lies below. By the Public Suffix List, which is long,
 * and loaded by an installation with such a setting only.
 */
function isShared(domain: string, hostname: string): boolean {
  const { getPublicSuffix } = createRequire(import.meta.url)('tldts') as typeof import('tldts');
  const suffixOf = (name: string) => getPublicSuffix(name, { allowPrivateDomains: true });
  return suffixOf(domain) === domain || suffixOf(hostname)?.endsWith(`.${domain}`) === true;
}
