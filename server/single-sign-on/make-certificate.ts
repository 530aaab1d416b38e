// The library below requires it at load time.
import 'reflect-metadata';
import { X509CertificateGenerator } from '@peculiar/x509';
import { day } from '../limits.ts';

const lifetime = 3 * 365 * day;

/**
 * Makes a 3072-bit RSA key with a self-signed certificate. Providers compare it only with the one in our metadata, so
 * its name is for people.
 */
export async function makeCertificate(
  name: string,
  now: Date,
): Promise<{ certificate: string; privateKey: string; endsAt: Date }> {
  const algorithm = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256', modulusLength: 3072 };
  const publicExponent = new Uint8Array([1, 0, 1]);
  const keys = await crypto.subtle.generateKey({ ...algorithm, publicExponent }, true, ['sign', 'verify']);
  const endsAt = new Date(now.getTime() + lifetime);
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: [{ CN: [name] }],
    notBefore: now,
    notAfter: endsAt,
    signingAlgorithm: algorithm,
    keys,
  });
  const pkcs8 = Buffer.from(await crypto.subtle.exportKey('pkcs8', keys.privateKey)).toString('base64');
  const privateKey = `-----BEGIN PRIVATE KEY-----\n${pkcs8.replace(/.{64}(?=.)/g, '$&\n')}\n-----END PRIVATE KEY-----\n`;
  return { certificate: certificate.toString('pem'), privateKey, endsAt };
}
