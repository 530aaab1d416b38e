import { samlp } from './names.ts';
import { said } from './said.ts';
import { attributeOf, childrenNamed, childrenOf, elementsIn, type XmlElement } from './xml-elements.ts';

/**
 * The content of a verified LogoutResponse: whether everything has ended, and its words for an operator (SAML core
 * §3.7.3.2).
 */
export function logoutStatus(root: XmlElement): { isWhole: boolean; words: string } {
  const codes = childrenNamed(root, samlp('Status')).flatMap((status) => childrenNamed(status, samlp('StatusCode')));
  const [code] = codes;
  const values = codes.flatMap(elementsIn).map((element) => attributeOf(element, 'Value'));
  const isSuccess = attributeOf(code ?? root, 'Value') === 'urn:oasis:names:tc:SAML:2.0:status:Success';
  // Inside Success it may still say PartialLogout: some other application went on.
  const isWhole = codes.length === 1 && isSuccess && code !== undefined && childrenOf(code).length === 0;
  return { isWhole, words: `the provider says ${values.map(said).join(', ') || 'nothing'}` };
}
