import { X509Certificate } from 'node:crypto';
import { limits } from '../../limits.ts';
import type { SamlSettings } from '../../storage/sso-settings.ts';

/** What an operator has to know about a provider's certificate. */
export type CertificateFacts = {
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

/** The provider's certificates that are valid now: only configured ones, never any from a message. */
export function validCertificates({ certificates }: SamlSettings, now: Date): string[] {
  return certificates.filter((pem) => {
    const facts = certificateFacts(pem);
    if (!facts?.isUsable) return false;
    return facts.beginsAt.getTime() - limits.providerClock <= now.getTime() && now < facts.endsAt;
  });
}
