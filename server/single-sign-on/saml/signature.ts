import { limits } from '../../limits.ts';
import { algorithms, digestHashes, ds } from './names.ts';
import { said } from './said.ts';
import { signatureAlgorithmNames } from './signature-algorithms.ts';
import {
  attributeOf,
  childrenNamed,
  childrenOf,
  elementsIn,
  isNamed,
  textOf,
  type XmlElement,
  type XmlName,
} from './xml-elements.ts';

/** A valid XML ID, without characters that are special in a search for it (SAML core §1.3.4). */
export const idPattern = /^[A-Za-z_][\w.-]*$/;

/**
 * Why SAML does not allow the signature of an element (core §5.4): it must be the only one, its own child, over exactly
 * this element, by exclusive canonicalization and current algorithms. Null if it is allowed; verified-xml.ts decides
 * whether it is valid.
 */
export function signatureProblem(signed: XmlElement): string | null {
  const [signature, another] = childrenNamed(signed, ds('Signature'));
  if (!signature) return `its ${signed.localName} is not signed`;
  if (another) return `its ${signed.localName} has two signatures`;
  const shape = shapeProblem(signature);
  if (shape) return `the signature of its ${signed.localName} ${shape}`;
  const [info] = childrenNamed(signature, ds('SignedInfo'));
  const problem = info && signedInfoProblem(info, signed);
  return problem ? `the signature of its ${signed.localName} ${problem}` : null;
}

/**
 * SignedInfo, SignatureValue and optionally KeyInfo: an Object could hide what was really signed (XML Signature §4.1).
 */
function shapeProblem(signature: XmlElement): string | null {
  const parts = childrenOf(signature);
  const names = [ds('SignedInfo'), ds('SignatureValue'), ds('KeyInfo')].slice(0, Math.max(2, parts.length));
  if (!isMadeOf(parts, names)) return 'has parts that do not belong in a signature';
  const values = parts
    .flatMap((part) => elementsIn(part))
    .filter(({ localName }) => /^(?:Signature|Digest)Value$/.test(localName));
  const isLong = values.some((value) => (textOf(value) ?? '').length > limits.samlSignatureValue);
  return isLong ? 'has a value that is too long' : null;
}

/** What is wrong with what is really signed: what it covers, and how. */
export function signedInfoProblem(info: XmlElement, signed: XmlElement): string | null {
  const parts = [ds('CanonicalizationMethod'), ds('SignatureMethod'), ds('Reference')];
  if (!isNamed(info, ds('SignedInfo')) || !isMadeOf(childrenOf(info), parts))
    return 'does not have exactly one reference';
  return methodProblem(info) ?? referenceProblem(info, signed);
}

function methodProblem(info: XmlElement): string | null {
  const [canonical, method] = childrenOf(info);
  if (!isPlain(canonical, [algorithms.exclusive])) return `is canonicalized with ${algorithmOf(canonical)}`;
  if (!isPlain(method, signatureAlgorithmNames)) return `uses ${algorithmOf(method)}`;
  return null;
}

function referenceProblem(info: XmlElement, signed: XmlElement): string | null {
  const [reference] = childrenNamed(info, ds('Reference'));
  if (!reference) return 'does not have exactly one reference';
  const id = attributeOf(signed, 'ID') ?? '';
  if (!idPattern.test(id) || attributeOf(reference, 'URI') !== `#${id}`)
    return `is over ${said(attributeOf(reference, 'URI'))}, not over ${said(`#${id}`)}`;
  const parts = childrenOf(reference);
  if (!isMadeOf(parts, [ds('Transforms'), ds('DigestMethod'), ds('DigestValue')]))
    return 'has parts that do not belong in its reference';
  const [transforms, digest] = parts;
  if (!isPlain(digest, [...digestHashes.keys()])) return `has a digest by ${algorithmOf(digest)}`;
  return transforms && hasOurTransforms(transforms) ? null : 'has transforms that are not allowed';
}

/** The signature is removed, the rest is canonicalized, and nothing else happens (SAML core §5.4.4). */
function hasOurTransforms(transforms: XmlElement): boolean {
  const parts = childrenOf(transforms);
  const [enveloped, exclusive] = parts;
  if (!exclusive || !isMadeOf(parts, [ds('Transform'), ds('Transform')])) return false;
  const inside = childrenOf(exclusive);
  return (
    isPlain(enveloped, [algorithms.enveloped]) &&
    attributeOf(exclusive, 'Algorithm') === algorithms.exclusive &&
    inside.length <= 1 &&
    inside.every((child) => isNamed(child, [algorithms.exclusive, 'InclusiveNamespaces']) && isShortList(child))
  );
}

function isShortList(inclusive: XmlElement): boolean {
  return (attributeOf(inclusive, 'PrefixList') ?? '').split(/[\t\n\r ]+/).length <= limits.inclusivePrefixes;
}

function isMadeOf(elements: XmlElement[], names: XmlName[]): boolean {
  return (
    elements.length === names.length && elements.every((element, index) => isNamed(element, names[index] as XmlName))
  );
}

/** One of these algorithms, without parameters that would change it. */
function isPlain(element: XmlElement | undefined, allowed: readonly string[]): boolean {
  return (
    element !== undefined &&
    childrenOf(element).length === 0 &&
    allowed.includes(attributeOf(element, 'Algorithm') ?? '')
  );
}

function algorithmOf(element: XmlElement | undefined): string {
  return said(element && attributeOf(element, 'Algorithm'));
}
