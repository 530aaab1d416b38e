import { limits } from '../../limits.ts';
import type { SamlSettings } from '../../storage/sso-settings.ts';
import { certificateFacts } from './certificate-ends.ts';

/** The provider's certificates that are valid now: only configured ones, never any from a message. */
export function validCertificates({ certificates }: SamlSettings, now: Date): string[] {
  return certificates.filter((pem) => {
    const facts = certificateFacts(pem);
    if (!facts?.isUsable) return false;
    return facts.beginsAt.getTime() - limits.providerClock <= now.getTime() && now < facts.endsAt;
  });
}
