import { constants, createHash, verify as isValid, X509Certificate } from 'node:crypto';
import { limits } from '../../limits.ts';
import { said } from '../provider-answer.ts';
import {
  algorithms,
  attributeOf,
  childrenNamed,
  descendantsNamed,
  ds,
  elementsIn,
  isNamed,
  readXml,
  requireXml,
  type XmlElement,
  type XmlReading,
} from './xml.ts';

type Made = new () => unknown;
type SignedXml = {
  SignatureAlgorithms: Record<string, Made>;
  HashAlgorithms: Record<string, Made>;
  CanonicalizationAlgorithms: Record<string, Made>;
  loadSignature(signature: XmlElement): void;
  checkSignature(xml: string): boolean;
  getSignedReferences(): string[];
  addReference(reference: { xpath: string; transforms: string[]; digestAlgorithm: string }): void;
  computeSignature(xml: string, options: { location: { reference: string; action: 'after' } }): void;
  getSignedXml(): string;
};

/** Signs or verifies, by the library. */
export function xmlSignature(options: Record<string, string>): SignedXml {
  const { SignedXml } = requireXml('xml-crypto') as { SignedXml: new (options: Record<string, string>) => SignedXml };
  return new SignedXml(options);
}

/** A valid XML ID, without characters that are special in a search for it (SAML core §1.3.4). */
export const idPattern = /^[A-Za-z_][\w.-]*$/;

const { exclusive, enveloped, sha256 } = algorithms;
const more = 'http://www.w3.org/2001/04/xmldsig-more#';
const newer = 'http://www.w3.org/2007/05/xmldsig-more#';
/** RFC 9231 §2.3.9: the salt is as long as the digest. */
const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST };
/** XML Signature 1.1 §6.4.3: r and s concatenated, not in ASN.1. */
const ecdsa = { dsaEncoding: 'ieee-p1363' } as const;

type Algorithm = { kind: 'rsa' | 'ec'; hash: string; options: object };

/** RSA in both ways and ECDSA, with SHA-2. No SHA-1, no DSA and no HMAC. */
const signatureAlgorithms = new Map(
  ['sha256', 'sha384', 'sha512'].flatMap((hash): [string, Algorithm][] => [
    [`${more}rsa-${hash}`, { kind: 'rsa', hash, options: {} }],
    [`${newer}${hash}-rsa-MGF1`, { kind: 'rsa', hash, options: pss }],
    [`${more}ecdsa-${hash}`, { kind: 'ec', hash, options: ecdsa }],
  ]),
);

const digestAlgorithms = new Map([
  [sha256, 'sha256'],
  [`${more}sha384`, 'sha384'],
  ['http://www.w3.org/2001/04/xmlenc#sha512', 'sha512'],
]);

/**
 * The elements of a signature, in order (SAML core §5.4): one reference, two transforms, and no Object that could hide
 * what was really signed. KeyInfo is not read.
 */
const shape =
  /^Signature SignedInfo CanonicalizationMethod SignatureMethod Reference Transforms Transform Transform (?:InclusiveNamespaces )?DigestMethod DigestValue SignatureValue(?: KeyInfo(?: (?!Sign|Canon|Ref|Trans|Digest|Object)\w+)*)?$/;

/** Whether a signature by one of the allowed algorithms is valid by a certificate with a key of its kind. */
export function isSignedBy(
  certificates: readonly string[],
  { algorithm, text, signature }: { algorithm: string; text: string; signature: string },
): boolean {
  const found = signatureAlgorithms.get(algorithm);
  const keys = certificates.map((pem) => new X509Certificate(pem).publicKey);
  return keys.some((key) => {
    if (!found || key.asymmetricKeyType !== found.kind) return false;
    try {
      return isValid(found.hash, Buffer.from(text), { key, ...found.options }, Buffer.from(signature, 'base64'));
    } catch {
      // A signature whose length does not fit the key.
      return false;
    }
  });
}

/**
 * Reads an element of a text again from the bytes that its own signature covers, if one of these certificates verifies
 * it. Nothing else of the text counts afterwards. The element, its signature and the reference between them are the only
 * things that we choose; xml-crypto refuses an ID that is there twice, and decides the rest.
 */
export function verify(text: string, signed: XmlElement, certificates: readonly string[]): XmlReading {
  const no = (problem: string): XmlReading => ({ kind: 'refused', problem });
  const its = `the signature of its ${signed.localName}`;
  const [signature, another] = childrenNamed(signed, ds('Signature'));
  if (!signature) return no(`its ${signed.localName} is not signed`);
  if (another) return no(`its ${signed.localName} has two signatures`);
  const names = elementsIn(signature).map(({ localName }) => localName);
  if (!shape.test(names.join(' '))) return no(`${its} has parts that do not belong in a signature`);
  if (signature.toString().length > limits.samlSignature) return no(`${its} is too long`);
  const [reference] = descendantsNamed(signature, ds('Reference'));
  const uri = reference && attributeOf(reference, 'URI');
  const id = attributeOf(signed, 'ID') ?? '';
  if (!idPattern.test(id) || uri !== `#${id}`) return no(`${its} is over ${said(uri)}, not over ${said(`#${id}`)}`);
  try {
    const verifier = xmlSignature({ publicCert: certificates[0] ?? '' });
    allowOnlyOurs(verifier, certificates);
    verifier.loadSignature(signature);
    const isTrue = verifier.checkSignature(text);
    const [covered, other] = verifier.getSignedReferences();
    if (!isTrue || covered === undefined || other !== undefined) return no(`${its} is not verified: a digest differs`);
    const reading = readXml(covered, { signs: Number.POSITIVE_INFINITY });
    const isSame = reading.kind === 'ok' && isNamed(reading.root, [signed.namespaceURI ?? '', signed.localName]);
    return isSame ? reading : no(`${its} covers another element`);
  } catch (error) {
    return no(`${its} is not verified: ${said(String(error))}`);
  }
}

/** The library knows SHA-1 and inclusive canonicalization, which we refuse, and neither SHA-384 nor ECDSA. */
function allowOnlyOurs(verifier: SignedXml, certificates: readonly string[]): void {
  const signatures = [...signatureAlgorithms.keys()].map((algorithm) => {
    const verifySignature = (text: string, _certificate: string, signature: string) =>
      isSignedBy(certificates, { algorithm, text, signature });
    return [algorithm, classWith({ verifySignature })] as const;
  });
  const digests = [...digestAlgorithms].map(([name, hash]) => {
    const getHash = (text: string) => createHash(hash).update(text).digest('base64');
    return [name, classWith({ getHash })] as const;
  });
  const canonical = Object.entries(verifier.CanonicalizationAlgorithms);
  verifier.SignatureAlgorithms = Object.fromEntries(signatures);
  verifier.HashAlgorithms = Object.fromEntries(digests);
  verifier.CanonicalizationAlgorithms = Object.fromEntries(
    canonical.filter(([name]) => name === exclusive || name === enveloped),
  );
}

function classWith(methods: object): Made {
  return class {
    constructor() {
      Object.assign(this, methods);
    }
  };
}
