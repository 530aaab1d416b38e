import { isIP } from 'node:net';
import type { Config } from '../config/config.ts';

/** Who passkeys are for (Web Authentication Level 3, §4): the domain, its name for people, and where its pages may be. */
export type RelyingParty = { id: string; name: string; origins: string[] };

/** The relying party of this installation; null if its address is a number, which no passkey can be made for. */
export function relyingPartyOf({ publicUrl, brand }: Pick<Config, 'publicUrl' | 'brand'>): RelyingParty | null {
  const { hostname, origin } = publicUrl;
  if (hostname.startsWith('[') || isIP(hostname) !== 0) return null;
  return { id: hostname, name: brand.branding.name, origins: [origin] };
}
