import { saml, samlp } from './names.ts';
import { childrenNamed, isNamed, textOf, type XmlElement } from './xml-elements.ts';

/** The issuer that a SAML response names, unverified, or null. */
export function issuerOfSamlResponse(root: XmlElement): string | null {
  if (!isNamed(root, samlp('Response'))) return null;
  // A response may omit its own (SAML core §3.2.2); the assertion must have one.
  const named = [root, ...childrenNamed(root, saml('Assertion'))];
  const [issuer] = named.flatMap((element) => childrenNamed(element, saml('Issuer')));
  return issuer ? textOf(issuer) : null;
}
