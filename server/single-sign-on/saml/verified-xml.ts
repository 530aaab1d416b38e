import { createHash, timingSafeEqual, X509Certificate } from 'node:crypto';
import { createRequire } from 'node:module';
import { libraryVerifiedXml } from './library-verified-xml.ts';
import { algorithms, digestHashes, ds } from './names.ts';
import { signedInfoProblem } from './signature.ts';
import { signatureCheck } from './signature-algorithms.ts';
import { readXml } from './strict-xml.ts';
import { attributeOf, childrenNamed, descendantsNamed, textOf, type XmlElement, type XmlNode } from './xml-elements.ts';

type Options = {
  inclusiveNamespacesPrefixList?: string[];
  ancestorNamespaces?: { prefix: string; namespaceURI: string }[];
};

// Not by `import`: its types would add a browser's whole DOM to the server's.
const { ExclusiveCanonicalization } = createRequire(import.meta.url)('xml-crypto') as {
  ExclusiveCanonicalization: new () => { process(element: XmlElement, options: Options): string };
};

/** Our checks accepted a signature that the library rejects, or reads over other bytes: one of the two is wrong. */
export class VerificationsDisagree extends Error {}

/**
 * The bytes of an element that its signature covers, if the signature is valid by one of these certificates; otherwise
 * null. The library decides: it also verifies what passes our cheap checks, for which the provider's key is needed, and
 * both must agree on the bytes. Throws VerificationsDisagree if they don't.
 */
export function verifiedXml(signed: XmlElement, certificates: readonly string[]): string | null {
  const passed = pastTheGate(signed, certificates);
  if (!passed) return null;
  const verified = libraryVerifiedXml(signed, passed.certificate);
  if (verified.kind === 'refused') throw new VerificationsDisagree(`xml-crypto says: ${verified.problem}`);
  if (verified.text !== passed.text) throw new VerificationsDisagree('xml-crypto says that different bytes are signed');
  return passed.text;
}

/**
 * The element's shape was checked before. The signature over SignedInfo is verified first, at the same cost for
 * everyone: without the provider's key nothing else is read. Then one walk over the element, without searches.
 */
function pastTheGate(
  signed: XmlElement,
  certificates: readonly string[],
): { text: string; certificate: string } | null {
  const [signature] = childrenNamed(signed, ds('Signature'));
  const [info] = signature ? childrenNamed(signature, ds('SignedInfo')) : [];
  const [value] = signature ? childrenNamed(signature, ds('SignatureValue')) : [];
  if (!signature || !info || !value) return null;
  const infoText = canonical(info, {});
  // SignedInfo says what it covers and by which algorithms, not what it was made of.
  const reading = readXml(infoText);
  if (reading.kind === 'refused' || signedInfoProblem(reading.root, signed)) return null;
  const certificate = signerOf(reading.root, infoText, bytesOf(value), certificates);
  if (certificate === null) return null;
  const text = coveredText(signed, signature, reading.root);
  return text === null ? null : { text, certificate };
}

/** The certificate that verifies a signature over SignedInfo. */
function signerOf(info: XmlElement, text: string, value: Buffer, certificates: readonly string[]): string | null {
  const [method] = childrenNamed(info, ds('SignatureMethod'));
  const isTrue = signatureCheck(method ? attributeOf(method, 'Algorithm') : null);
  return certificates.find((pem) => isTrue(text, new X509Certificate(pem).publicKey, value)) ?? null;
}

/** What the reference covers: the element without its signature (SAML core §5.4.4), if its digest matches. */
function coveredText(signed: XmlElement, signature: XmlElement, info: XmlElement): string | null {
  const [reference] = childrenNamed(info, ds('Reference'));
  const [method] = reference ? childrenNamed(reference, ds('DigestMethod')) : [];
  const [value] = reference ? childrenNamed(reference, ds('DigestValue')) : [];
  const hash = digestHashes.get((method && attributeOf(method, 'Algorithm')) ?? '');
  if (!hash || !value) return null;
  const prefixes = descendantsNamed(info, [algorithms.exclusive, 'InclusiveNamespaces']).flatMap(prefixesOf);
  const text = without(signature, () =>
    canonical(signed, { inclusiveNamespacesPrefixList: prefixes, ancestorNamespaces: inherited(signed, prefixes) }),
  );
  const digest = createHash(hash).update(text).digest();
  const wanted = bytesOf(value);
  return digest.length === wanted.length && timingSafeEqual(digest, wanted) ? text : null;
}

function prefixesOf(inclusive: XmlElement): string[] {
  return (attributeOf(inclusive, 'PrefixList') ?? '').split(/[\t\n\r ]+/).filter((prefix) => prefix !== '');
}

/** The declarations of these prefixes around an element, nearest first, unless it declares them itself. */
function inherited(element: XmlElement, prefixes: string[]): { prefix: string; namespaceURI: string }[] {
  return prefixes.flatMap((prefix) => {
    if (element.hasAttribute(`xmlns:${prefix}`)) return [];
    for (let above = element.parentNode; above !== null && above.nodeType === 1; above = above.parentNode) {
      const namespaceURI = attributeOf(above as XmlElement, `xmlns:${prefix}`);
      if (namespaceURI !== null) return namespaceURI === '' ? [] : [{ prefix, namespaceURI }];
    }
    return [];
  });
}

function canonical(element: XmlElement, options: Options): string {
  return new ExclusiveCanonicalization().process(element, options);
}

/** Runs work while a node is detached from its document. */
function without<Result>(node: XmlNode, work: () => Result): Result {
  const { parentNode: parent, nextSibling } = node;
  parent?.removeChild(node);
  try {
    return work();
  } finally {
    parent?.insertBefore(node, nextSibling);
  }
}

function bytesOf(element: XmlElement): Buffer {
  return Buffer.from(textOf(element) ?? '', 'base64');
}
