import { limits } from '../../limits.ts';
import type { SamlSettings } from '../settings.ts';
import { certificateFacts } from './certificate-ends.ts';

/** The certificates of a provider that count now: of the configured ones, never of a message, those whose time it is. */
export function validCertificates({ certificates }: SamlSettings, now: Date): string[] {
  return certificates.filter((pem) => {
    const facts = certificateFacts(pem);
    if (!facts?.isUsable) return false;
    return facts.beginsAt.getTime() - limits.providerClock <= now.getTime() && now < facts.endsAt;
  });
}
