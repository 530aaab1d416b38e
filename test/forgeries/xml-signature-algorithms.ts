// The certificate library requires it on load.
import 'reflect-metadata';
import { constants, createHash, KeyObject, sign } from 'node:crypto';
import { X509CertificateGenerator } from '@peculiar/x509';
import type { SignedXml } from 'xml-crypto';

type SigningKey = { certificate: string; privateKey: string };

const more = 'http://www.w3.org/2001/04/xmldsig-more#';
const hashes = ['sha256', 'sha384', 'sha512'];
const paddings: [string, object][] = [
  [`${more}rsa-%`, {}],
  [`${more}ecdsa-%`, { dsaEncoding: 'ieee-p1363' }],
  [
    'http://www.w3.org/2007/05/xmldsig-more#%-rsa-MGF1',
    { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST },
  ],
];

/** Adds algorithms of real providers that the test signing library lacks. */
export function addAlgorithms(signature: SignedXml): void {
  for (const hash of hashes) {
    for (const [name, padding] of paddings) {
      const algorithm = name.replace('%', hash);
      signature.SignatureAlgorithms[algorithm] ??= class {
        getSignature = (text: string, key: string) =>
          sign(hash, Buffer.from(text), { key, ...padding }).toString('base64');
        verifySignature = () => false;
        getAlgorithmName = () => algorithm;
      } as never;
    }
  }
  const digest = `${more}sha384`;
  signature.HashAlgorithms[digest] = class {
    getAlgorithmName = () => digest;
    getHash = (xml: string) => createHash('sha384').update(xml).digest('base64');
  } as never;
}

/** An elliptic curve key with its certificate. */
export async function ecCertificate(curve: string, now: Date): Promise<SigningKey> {
  const algorithm = { name: 'ECDSA', namedCurve: curve, hash: 'SHA-256' };
  const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const times = { notBefore: now, notAfter: new Date(now.getTime() + 365 * 24 * 3_600_000) };
  const made = await X509CertificateGenerator.createSelfSigned({ ...times, signingAlgorithm: algorithm, keys });
  const privateKey = String(KeyObject.from(keys.privateKey).export({ type: 'pkcs8', format: 'pem' }));
  return { certificate: made.toString('pem'), privateKey };
}
