import { isIP } from 'node:net';

/** What passkeys are made for (Web Authentication Level 3, §4): a domain, and the origins of the pages that may ask. */
export type RelyingParty = { id: string; origins: string[] };

/** The relying party of an installation; null if its address is a number, which no passkey can be made for. */
export function relyingPartyOf({ hostname, origin }: URL): RelyingParty | null {
  if (hostname.startsWith('[') || isIP(hostname) !== 0) return null;
  return { id: hostname, origins: [origin] };
}
