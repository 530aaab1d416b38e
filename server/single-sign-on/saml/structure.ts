import { saml } from './names.ts';
import { said } from './said.ts';
import { signatureProblem } from './signature.ts';
import { childrenNamed, childrenOf, elementsIn, isNamed, type XmlElement, type XmlName } from './xml-elements.ts';

/** The element that contains the assertion; `assertionProblem` has checked that there is one. */
export function assertionIn(root: XmlElement): { element: XmlElement; isEncrypted: boolean } {
  const [plain] = childrenNamed(root, saml('Assertion'));
  const [encrypted] = childrenNamed(root, saml('EncryptedAssertion'));
  return { element: (plain ?? encrypted) as XmlElement, isEncrypted: !plain };
}

/** Wherever a second one hides, by whatever prefix: which one is read must be unambiguous. */
export function assertionProblem(root: XmlElement): string | null {
  const all = elementsIn(root).filter(
    ({ localName }) => localName === 'Assertion' || localName === 'EncryptedAssertion',
  );
  const own = [...childrenNamed(root, saml('Assertion')), ...childrenNamed(root, saml('EncryptedAssertion'))];
  if (all.length === 1 && own.length === 1) return null;
  return `it holds ${all.length} assertions, ${own.length} in their place`;
}

/** What does not belong in a message: a part that is neither one of `once` nor of `others`, or a second of one of `once`. */
export function partsProblem(root: XmlElement, once: readonly XmlName[], others: readonly XmlName[]): string | null {
  const known = [...once, ...others];
  const stranger = childrenOf(root).find((child) => !known.some((name) => isNamed(child, name)));
  if (stranger) return `it contains an unexpected part: ${said(stranger.nodeName)}`;
  const twice = once.find((name) => childrenNamed(root, name).length > 1);
  return twice ? `it has more than one ${twice[1]}` : null;
}

/** Two elements with one ID: one could be signed and the other read. */
export function idProblem(root: XmlElement): string | null {
  const seen = new Set<string>();
  for (const element of elementsIn(root))
    for (const { localName, name, value } of Array.from(element.attributes)) {
      if ((localName ?? name).toLowerCase() !== 'id') continue;
      if (seen.has(value)) return `it contains the ID ${said(value)} twice`;
      seen.add(value);
    }
  return null;
}

/** The signatures of these elements are allowed, and there are no stray ones. */
export function signaturesProblem(root: XmlElement, signed: XmlElement[]): string | null {
  const problem = signed.map(signatureProblem).find((found) => found !== null);
  return problem ?? strayProblem(root, signed.length);
}

/** Signatures other than the checked ones, and parts of signatures. */
function strayProblem(root: XmlElement, signatures: number): string | null {
  for (const name of ['Signature', 'SignedInfo', 'Reference'])
    if (elementsIn(root).filter(({ localName }) => localName === name).length !== signatures)
      return `a ${name} is in the wrong place`;
  return null;
}
