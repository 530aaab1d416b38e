import { promisify } from 'node:util';
import type { PortalKey } from '../portal-keys.ts';
import { said } from '../provider-answer.ts';
import {
  algorithms,
  attributeOf,
  childrenNamed,
  descendantsNamed,
  ds,
  elementsIn,
  readXml,
  requireXml,
  type XmlElement,
  type XmlReading,
  xenc,
} from './xml.ts';

type Decrypt = (xml: string, options: { key: string }, done: (error: Error | null, text: string) => void) => void;

/**
 * Reads an encrypted assertion or NameID with one of the portal's keys. The result proves nothing about its sender: anyone
 * can encrypt to our public certificate. Every failure to decrypt is reported in the same words. AES-CBC can be
 * attacked byte by byte with changed copies: it is decrypted only where a signature covers the encrypted data (XML
 * Encryption 1.1 §6.1).
 */
export async function decrypt(
  encrypted: XmlElement,
  what: 'assertion' | 'NameID',
  { keys, isSigned }: { keys: readonly PortalKey[]; isSigned: boolean },
): Promise<XmlReading> {
  const problem = methodProblem(encrypted, what, isSigned);
  if (problem) return { kind: 'refused', problem };
  const opener = promisify((requireXml('xml-encryption') as { decrypt: Decrypt }).decrypt);
  for (const key of keys) {
    const opened = await opener(encrypted.toString(), { key: key.privateKey }).catch(() => null);
    const reading = opened ? readXml(opened) : null;
    if (reading)
      return reading.kind === 'ok'
        ? reading
        : { kind: 'refused', problem: `what was encrypted cannot be read: ${reading.problem}` };
  }
  return { kind: 'refused', problem: `no portal key decrypts its ${what}` };
}

/** One piece of data under one key, each by an accepted algorithm: the library uses the first it finds. */
function methodProblem(encrypted: XmlElement, what: string, isSigned: boolean): string | null {
  const [data, more] = descendantsNamed(encrypted, xenc('EncryptedData'));
  const [key, another] = descendantsNamed(encrypted, xenc('EncryptedKey'));
  const methods = elementsIn(encrypted).filter(({ localName }) => localName === 'EncryptionMethod');
  if (!data || more || !key || another || methods.length !== 2)
    return `its encrypted ${what} does not have one piece of data and one key`;
  const transport = methodOf(key);
  if (transport !== algorithms.rsaOaep) return `the key of its encrypted ${what} is encrypted by ${said(transport)}`;
  const [digest] = descendantsNamed(key, ds('DigestMethod'));
  if (digest && attributeOf(digest, 'Algorithm') !== algorithms.oaepDigest)
    return `the key of its encrypted ${what} is encrypted with the digest ${said(attributeOf(digest, 'Algorithm'))}`;
  const cipher = methodOf(data) ?? '';
  if (algorithms.gcm.includes(cipher)) return null;
  if (!algorithms.cbc.includes(cipher)) return `its ${what} is encrypted by ${said(cipher)}`;
  return isSigned ? null : 'it is encrypted with AES-CBC, which requires a signed response';
}

function methodOf(encrypted: XmlElement): string | null {
  const [method] = childrenNamed(encrypted, xenc('EncryptionMethod'));
  return method ? attributeOf(method, 'Algorithm') : null;
}
