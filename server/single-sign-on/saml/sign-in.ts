import { promisify } from 'node:util';
import { isProviderAddress } from '../../config/public-url.ts';
import type { Deps } from '../../deps.ts';
import type { SamlKept } from '../claim-visit.ts';
import { type PortalKey, portalKeys } from '../portal-keys.ts';
import { type ProviderAnswer, type Refusal, refusalFor, said } from '../provider-answer.ts';
import type { SamlConnection } from '../sso-connection.ts';
import { assertionCountProblem, assertionIn, assertionProblem, type Expected, responseProblem } from './checks.ts';
import { invalid, samlIdentity } from './identity.ts';
import { authnRequestXml, type Carried, carryMessage, newMessageId } from './messages.ts';
import { validCertificates } from './provider-metadata.ts';
import { verify } from './verify.ts';
import {
  algorithms,
  attributeOf,
  childrenNamed,
  descendantsNamed,
  ds,
  elementsIn,
  isNamed,
  readSamlField,
  readXml,
  requireXml,
  saml,
  samlp,
  textOf,
  type XmlElement,
  type XmlReading,
  xenc,
} from './xml.ts';

const success = 'urn:oasis:names:tc:SAML:2.0:status:Success';

/** Where to send a visitor, with a signed AuthnRequest in the address or in the fields of a form (SAML bindings §3.4, §3.5). */
export async function startSaml(
  deps: Deps,
  { settings }: SamlConnection,
  { state, freshSignIn = false }: { state: string; freshSignIn?: boolean },
): Promise<({ kind: 'ok'; kept: SamlKept } & Carried) | Refusal> {
  const { signOnUrl: to, signOnBinding: binding = 'redirect' } = settings;
  if (!isProviderAddress(to)) return refusalFor('connection-broken', `the sign-on address ${said(to)} is not allowed`);
  const [key] = await portalKeys(deps);
  const id = newMessageId();
  const xml = authnRequestXml({ config: deps.config, id, destination: to, now: deps.now(), freshSignIn });
  const carried = carryMessage({ field: 'SAMLRequest', xml, to, binding, relayState: state }, key);
  return { kind: 'ok', kept: { requestId: id }, ...carried };
}

/** Reads the answer in a SAMLResponse field. */
export async function readSamlAnswer(
  deps: Deps,
  { settings, attributes }: SamlConnection,
  { field, kept }: { field: string; kept: SamlKept },
): Promise<ProviderAnswer> {
  const expected = { config: deps.config, settings, kept, now: deps.now() };
  const verified = await verifiedAssertion(deps, field, expected);
  if (verified.kind === 'refused') return verified;
  const problem = assertionProblem(verified.assertion, expected);
  if (problem) return invalid(problem);
  return samlIdentity(deps.config, verified.assertion, { settings, attributes });
}

/**
 * The assertion of a response, as the provider signed it: decrypted, verified by its own signature, and read again from
 * the bytes that this covers. A response may be signed too, and then that signature must be valid as well.
 */
async function verifiedAssertion(
  deps: Deps,
  field: string,
  expected: Expected,
): Promise<{ kind: 'ok'; assertion: XmlElement } | Refusal> {
  const response = readSamlField(field);
  if (response.kind === 'refused') return invalid(response.problem);
  const certificates = validCertificates(expected.settings, expected.now);
  if (certificates.length === 0) return refusalFor('connection-broken', 'no certificate of the provider is valid now');
  const isSigned = childrenNamed(response.root, ds('Signature')).length > 0;
  const outer = isSigned ? verify(response.text, response.root, certificates) : response;
  if (outer.kind === 'refused') return invalid(outer.problem);
  const problem = responseProblem(outer.root, expected);
  if (problem) return invalid(problem);
  const refusal = statusRefusal(outer.root);
  if (refusal) return refusal;
  const countProblem = assertionCountProblem(outer.root, expected);
  if (countProblem) return invalid(countProblem);
  const { encrypted } = assertionIn(outer.root);
  const sealed = encrypted && (await decrypt(encrypted, await portalKeys(deps), isSigned));
  if (sealed?.kind === 'refused') return invalid(sealed.problem);
  // Where it was not encrypted, from the message as it came: namespaces that its signature covers may be declared around it.
  const signed = sealed?.root ?? assertionIn(response.root).plain;
  if (!signed || !isNamed(signed, saml('Assertion'))) return invalid('the decrypted element is not an assertion');
  const verified = verify((sealed ?? response).text, signed, certificates);
  return verified.kind === 'ok' ? { kind: 'ok', assertion: verified.root } : invalid(verified.problem);
}

/** The provider's own refusal (SAML core §3.2.2.2): the outer status counts, whatever assertion is inside. */
function statusRefusal(root: XmlElement): Refusal | null {
  const [code, another] = childrenNamed(root, samlp('Status'), samlp('StatusCode'));
  if (!code || another) return invalid('it does not have one status');
  if (attributeOf(code, 'Value') === success) return null;
  const codes = elementsIn(code).map((element) => said(attributeOf(element, 'Value')));
  const [message] = childrenNamed(root, samlp('Status'), samlp('StatusMessage'));
  const words = message ? `: ${said(textOf(message))}` : '';
  return refusalFor('provider-refused', `the provider says ${codes.join(', ')}${words}`);
}

type Decrypt = (xml: string, options: { key: string }, done: (error: Error | null, text: string) => void) => void;

/**
 * Reads an encrypted assertion with one of the portal's keys. The result proves nothing about its sender: anyone
 * can encrypt to our public certificate. Every failure to decrypt is reported in the same words. AES-CBC can be
 * attacked byte by byte with changed copies: it is decrypted only where a signature covers the encrypted data (XML
 * Encryption 1.1 §6.1).
 */
async function decrypt(encrypted: XmlElement, keys: readonly PortalKey[], isSigned: boolean): Promise<XmlReading> {
  const problem = methodProblem(encrypted, isSigned);
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
  return { kind: 'refused', problem: `no portal key decrypts its assertion` };
}

/** One piece of data under one key, each by an accepted algorithm: the library uses the first it finds. */
function methodProblem(encrypted: XmlElement, isSigned: boolean): string | null {
  const [data, more] = descendantsNamed(encrypted, xenc('EncryptedData'));
  const [key, another] = descendantsNamed(encrypted, xenc('EncryptedKey'));
  const methods = elementsIn(encrypted).filter(({ localName }) => localName === 'EncryptionMethod');
  if (!data || more || !key || another || methods.length !== 2)
    return 'its encrypted assertion does not have one piece of data and one key';
  const transport = methodOf(key);
  if (transport !== algorithms.rsaOaep) return `the key of its encrypted assertion is encrypted by ${said(transport)}`;
  const [digest] = descendantsNamed(key, ds('DigestMethod'));
  if (digest && attributeOf(digest, 'Algorithm') !== algorithms.oaepDigest)
    return `the key of its encrypted assertion is encrypted with the digest ${said(attributeOf(digest, 'Algorithm'))}`;
  const cipher = methodOf(data) ?? '';
  if (algorithms.gcm.includes(cipher)) return null;
  if (!algorithms.cbc.includes(cipher)) return `its assertion is encrypted by ${said(cipher)}`;
  return isSigned ? null : 'it is encrypted with AES-CBC, which requires a signed response';
}

function methodOf(encrypted: XmlElement): string | null {
  const [method] = childrenNamed(encrypted, xenc('EncryptionMethod'));
  return method ? attributeOf(method, 'Algorithm') : null;
}
