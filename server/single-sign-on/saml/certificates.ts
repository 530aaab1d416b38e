import { X509Certificate } from 'node:crypto';
import { day, limits } from '../../limits.ts';
import type { SamlSettings } from '../sso-connection.ts';

/** Expiring certificates and secrets cause warnings from this long before. */
export const expiryWarning = 60 * day;

/** What an operator has to know about a provider's certificate. */
type CertificateFacts = {
  beginsAt: Date;
  endsAt: Date;
  /** Whether its key can verify answers: RSA, or ECDSA on a NIST curve. */
  isUsable: boolean;
  /** Null if the key is not RSA. */
  rsaBits: number | null;
  /** SHA-256 of the certificate, formatted as by other tools. */
  fingerprint: string;
};

const curves = ['prime256v1', 'secp384r1', 'secp521r1'];

/** Reads a certificate in PEM; null if it is invalid. */
export function certificateFacts(pem: string): CertificateFacts | null {
  try {
    const certificate = new X509Certificate(pem);
    const { asymmetricKeyType: type, asymmetricKeyDetails: details } = certificate.publicKey;
    return {
      beginsAt: certificate.validFromDate,
      endsAt: certificate.validToDate,
      isUsable: type === 'rsa' || (type === 'ec' && curves.includes(details?.namedCurve ?? '')),
      rsaBits: type === 'rsa' ? (details?.modulusLength ?? 0) : null,
      fingerprint: certificate.fingerprint256,
    };
  } catch {
    return null;
  }
}

/** Whether something that a certificate signs now counts, and what an operator has to know about it. */
export function certificateState(pem: string, now: Date): { counts: boolean; ok: boolean; words: string } {
  const no = (words: string) => ({ counts: false, ok: false, words });
  const facts = certificateFacts(pem);
  if (!facts) return no('it cannot be read');
  const [begin, end] = [facts.beginsAt, facts.endsAt].map((date) => date.toISOString().slice(0, 10));
  if (!facts.isUsable) return no('its key is neither RSA nor ECDSA');
  if (facts.endsAt <= now) return no(`it ended on ${end}`);
  if (facts.beginsAt.getTime() - limits.providerClock > now.getTime()) return no(`it begins on ${begin}`);
  if (facts.rsaBits !== null && facts.rsaBits < limits.weakestRsaKey)
    return { counts: true, ok: false, words: `its key is weak: RSA of ${facts.rsaBits} bits` };
  const endsSoon = facts.endsAt.getTime() - now.getTime() < expiryWarning;
  return { counts: true, ok: !endsSoon, words: `it is valid until ${end}` };
}

/** The provider's certificates that count now: only configured ones, never any from a message. */
export function validCertificates({ certificates }: SamlSettings, now: Date): string[] {
  return certificates.filter((pem) => certificateState(pem, now).counts);
}
