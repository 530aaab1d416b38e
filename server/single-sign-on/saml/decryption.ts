import type { PortalKey } from '../portal-keys.ts';
import { algorithms, ds, xenc } from './names.ts';
import { said } from './said.ts';
import { idPattern } from './signature.ts';
import {
  attributeOf,
  childrenNamed,
  childrenOf,
  descendantsNamed,
  elementsIn,
  type XmlElement,
  type XmlName,
} from './xml-elements.ts';

export type Opened = { kind: 'ok'; text: string } | { kind: 'refused'; problem: string };

/**
 * Decrypts an assertion or a NameID with one of the portal's keys. The result proves nothing about its sender: anyone
 * can encrypt to our public certificate. Every failure to decrypt is reported in the same words. AES-CBC can be
 * attacked byte by byte with changed copies: it is decrypted only if a signature over the encrypted data is valid (XML
 * Encryption 1.1 §6.1).
 */
export async function openEncrypted(
  encrypted: XmlElement,
  what: 'assertion' | 'NameID',
  { keys, isVerified }: { keys: readonly PortalKey[]; isVerified: boolean },
): Promise<Opened> {
  const problem = encryptionProblem(encrypted, what);
  if (problem) return { kind: 'refused', problem };
  if (isByCbc(encrypted) && !isVerified)
    return { kind: 'refused', problem: 'it is encrypted with AES-CBC, which requires a signed response' };
  const { decryptXml } = await import('@node-saml/node-saml/lib/xml.js');
  for (const key of keys) {
    const opened = await decryptXml(encrypted.toString(), key.privateKey).catch(() => null);
    if (opened) return { kind: 'ok', text: opened };
  }
  return { kind: 'refused', problem: `no portal key decrypts its ${what}` };
}

/** One piece of data under one key, each by an accepted algorithm: the library uses the first it finds. */
function encryptionProblem(encrypted: XmlElement, what: string): string | null {
  const [data, more] = childrenNamed(encrypted, xenc('EncryptedData'));
  const [key, another] = descendantsNamed(encrypted, xenc('EncryptedKey'));
  if (!data || more || !key || another) return `its encrypted ${what} does not have one piece of data and one key`;
  const names: XmlName[] = [xenc('EncryptionMethod'), xenc('CipherData'), xenc('CipherValue')];
  const wrong = names.find(
    ([, name]) => elementsIn(encrypted).filter(({ localName }) => localName === name).length !== 2,
  );
  if (wrong) return `its encrypted ${what} does not have two parts ${wrong[1]}`;
  if (!isKeyBeforeData(data, key, encrypted)) return `the key of its encrypted ${what} is not in its place`;
  const transport = methodOf(key);
  if (transport !== algorithms.rsaOaep) return `the key of its encrypted ${what} is encrypted by ${said(transport)}`;
  const digest = oaepDigestOf(key);
  if (digest !== null && digest !== algorithms.oaepDigest)
    return `the key of its encrypted ${what} is encrypted with the digest ${said(digest)}`;
  const cipher = methodOf(data);
  const known = [...algorithms.gcm, ...algorithms.cbc];
  return known.includes(cipher ?? '') ? null : `its ${what} is encrypted by ${said(cipher)}`;
}

/**
 * In the KeyInfo of the data, or beside the data and referenced by its KeyInfo (SAML core §2.3.4, XML Encryption §3.5).
 */
function isKeyBeforeData(data: XmlElement, key: XmlElement, encrypted: XmlElement): boolean {
  const [info, another] = childrenNamed(data, ds('KeyInfo'));
  if (!info || another) return false;
  if (key.parentNode === info) return childrenOf(data).indexOf(info) < childrenOf(data).length - 1;
  const [leading] = childrenNamed(info, ds('RetrievalMethod'));
  const id = attributeOf(key, 'Id') ?? '';
  return key.parentNode === encrypted && idPattern.test(id) && !!leading && attributeOf(leading, 'URI') === `#${id}`;
}

function methodOf(encrypted: XmlElement): string | null {
  const [method] = childrenNamed(encrypted, xenc('EncryptionMethod'));
  return method ? attributeOf(method, 'Algorithm') : null;
}

/** The OAEP digest, if stated; the library treats an unknown one as the default. */
function oaepDigestOf(key: XmlElement): string | null {
  const [digest] = childrenNamed(key, xenc('EncryptionMethod')).flatMap((method) =>
    childrenNamed(method, ds('DigestMethod')),
  );
  return digest ? attributeOf(digest, 'Algorithm') : null;
}

function isByCbc(encrypted: XmlElement): boolean {
  const [data] = childrenNamed(encrypted, xenc('EncryptedData'));
  return data !== undefined && algorithms.cbc.includes(methodOf(data) ?? '');
}
