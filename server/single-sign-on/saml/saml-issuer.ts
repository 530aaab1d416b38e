import { saml, samlp } from './saml-names.ts';
import { samlText } from './saml-text.ts';
import { readXml } from './strict-xml.ts';
import { childrenNamed, isNamed, textOf } from './xml-elements.ts';

/** The issuer that a SAML response names, unverified; null when it cannot be read. */
export function issuerOfSamlResponse(samlResponse: string): string | null {
  const answer = samlText(samlResponse);
  const response = answer.ok ? readXml(answer.text) : answer;
  if (!response.ok || !isNamed(response.root, samlp('Response'))) return null;
  // A response may leave its own out (SAML core §3.2.2); the assertion must have one.
  const named = [response.root, ...childrenNamed(response.root, saml('Assertion'))];
  const [issuer] = named.flatMap((element) => childrenNamed(element, saml('Issuer')));
  return issuer ? textOf(issuer) : null;
}
