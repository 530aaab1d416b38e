import { createHash, X509Certificate } from 'node:crypto';
import { createRequire } from 'node:module';
import { algorithms, digestHashes, ds } from './names.ts';
import { signatureAlgorithmNames, signatureCheck } from './signature-algorithms.ts';
import { sourceOf } from './strict-xml.ts';
import { childrenNamed, type XmlElement } from './xml-elements.ts';

type Made = new () => unknown;

/** What we use of xml-crypto; `getCertFromKeyInfo` stays off, so that no certificate is taken from a message. */
type SignedXml = {
  SignatureAlgorithms: Record<string, Made>;
  HashAlgorithms: Record<string, Made>;
  CanonicalizationAlgorithms: Record<string, Made>;
  loadSignature(signature: XmlElement): void;
  checkSignature(xml: string): boolean;
  getSignedReferences(): string[];
};

// Not by `import`: its types would add a browser's whole DOM to the server's.
const { SignedXml } = createRequire(import.meta.url)('xml-crypto') as {
  SignedXml: new (options: { publicCert: string }) => SignedXml;
};

/**
 * What the signature of an element covers according to xml-crypto, by one certificate: it parses and searches the whole
 * document itself. That is slow, so it runs after the checks of verified-xml.ts that a forger cannot pass. The words
 * say why it rejects the signature.
 */
export function libraryVerifiedXml(
  signed: XmlElement,
  certificate: string,
): { kind: 'ok'; text: string } | { kind: 'refused'; problem: string } {
  const [signature] = childrenNamed(signed, ds('Signature'));
  const source = sourceOf(signed);
  if (!signature || source === null) return { kind: 'refused', problem: 'there is nothing to verify' };
  try {
    const verifier = new SignedXml({ publicCert: certificate });
    allowOnlyOurs(verifier);
    verifier.loadSignature(signature);
    if (!verifier.checkSignature(source)) return { kind: 'refused', problem: 'a digest differs' };
    const [text, another] = verifier.getSignedReferences();
    if (text === undefined || another !== undefined)
      return { kind: 'refused', problem: 'it does not cover exactly one element' };
    return { kind: 'ok', text };
  } catch (error) {
    return { kind: 'refused', problem: error instanceof Error ? error.message : String(error) };
  }
}

/** The library supports SHA-1 and inclusive canonicalization, which we refuse, and neither SHA-384 nor ECDSA. */
function allowOnlyOurs(verifier: SignedXml): void {
  const known = { ...verifier.SignatureAlgorithms };
  verifier.SignatureAlgorithms = Object.fromEntries(
    signatureAlgorithmNames.map((name) => [name, known[name] ?? signatureAlgorithm(name)]),
  );
  const hashes = { ...verifier.HashAlgorithms };
  verifier.HashAlgorithms = Object.fromEntries(
    [...digestHashes].map(([name, hash]) => [name, hashes[name] ?? hashAlgorithm(name, hash)]),
  );
  const { exclusive, enveloped } = algorithms;
  verifier.CanonicalizationAlgorithms = Object.fromEntries(
    Object.entries(verifier.CanonicalizationAlgorithms).filter(([name]) => name === exclusive || name === enveloped),
  );
}

function signatureAlgorithm(name: string): Made {
  const isTrue = signatureCheck(name);
  return class {
    getAlgorithmName = () => name;
    verifySignature = (text: string, certificate: string, value: string) =>
      isTrue(text, new X509Certificate(certificate).publicKey, Buffer.from(value, 'base64'));
  };
}

function hashAlgorithm(name: string, hash: string): Made {
  return class {
    getAlgorithmName = () => name;
    getHash = (text: string) => createHash(hash).update(text).digest('base64');
  };
}
