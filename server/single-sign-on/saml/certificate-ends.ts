import { X509Certificate } from 'node:crypto';

/** Of a provider's certificate, what an operator has to know. */
export type CertificateFacts = {
  beginsAt: Date;
  endsAt: Date;
  /** Null when the key is none of RSA, the only kind by which answers can be verified. */
  rsaBits: number | null;
  /** SHA-256 of the certificate, as other tools show it. */
  fingerprint: string;
};

/** Reads a certificate in PEM; null when it is none. */
export function certificateFacts(pem: string): CertificateFacts | null {
  try {
    const certificate = new X509Certificate(pem);
    const { asymmetricKeyType: type, asymmetricKeyDetails: details } = certificate.publicKey;
    return {
      beginsAt: certificate.validFromDate,
      endsAt: certificate.validToDate,
      rsaBits: type === 'rsa' ? (details?.modulusLength ?? 0) : null,
      fingerprint: certificate.fingerprint256,
    };
  } catch {
    return null;
  }
}
