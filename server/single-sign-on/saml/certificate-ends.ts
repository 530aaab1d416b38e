import { X509Certificate } from 'node:crypto';

/** Of a provider's certificate, what an operator has to know. */
export type CertificateFacts = {
  beginsAt: Date;
  endsAt: Date;
  /** Whether answers can be verified by its key: RSA, or ECDSA on a curve of NIST. */
  isUsable: boolean;
  /** Null when the key is none of RSA. */
  rsaBits: number | null;
  /** SHA-256 of the certificate, as other tools show it. */
  fingerprint: string;
};

const curves = ['prime256v1', 'secp384r1', 'secp521r1'];

/** Reads a certificate in PEM; null when it is none. */
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
