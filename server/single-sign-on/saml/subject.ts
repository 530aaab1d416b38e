import type { Deps } from '../../deps/deps.ts';
import type { Refusal } from '../identity.ts';
import { portalKeys } from '../portal-keys.ts';
import { openEncrypted } from './decryption.ts';
import { saml } from './names.ts';
import { invalid } from './response.ts';
import { readXml } from './strict-xml.ts';
import { childrenNamed, childrenOf, isNamed, type XmlElement } from './xml-elements.ts';

/**
 * The one NameID of the subject of a verified assertion, decrypted if necessary (SAML core §2.2.4). The assertion's
 * signature covers the encrypted data, so AES-CBC is safe here.
 */
export async function subjectName(
  deps: Deps,
  assertion: XmlElement,
): Promise<{ kind: 'ok'; name: XmlElement } | Refusal> {
  const parts = childrenNamed(assertion, saml('Subject')).flatMap(childrenOf);
  const names = parts.filter((part) => !isNamed(part, saml('SubjectConfirmation')));
  return await openedName(deps, names);
}

/** The one NameID among elements that a verified signature covers, decrypted if necessary. */
export async function openedName(
  deps: Deps,
  [name, another]: readonly XmlElement[],
): Promise<{ kind: 'ok'; name: XmlElement } | Refusal> {
  if (!name || another) return invalid('the subject does not have one NameID');
  if (isNamed(name, saml('NameID'))) return { kind: 'ok', name };
  if (!isNamed(name, saml('EncryptedID'))) return invalid('the subject does not have one NameID');
  const opened = await openEncrypted(name, 'NameID', { keys: await portalKeys(deps), isVerified: true });
  if (opened.kind === 'refused') return invalid(opened.problem);
  const reading = readXml(opened.text);
  if (reading.kind === 'refused') return invalid(`its encrypted NameID cannot be read: ${reading.problem}`);
  return isNamed(reading.root, saml('NameID'))
    ? { kind: 'ok', name: reading.root }
    : invalid('the decrypted element is not a NameID');
}
