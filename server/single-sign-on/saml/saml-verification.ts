import type { Deps } from '../../deps.ts';
import type { Refusal } from '../identity.ts';
import { portalKeys } from '../portal-keys.ts';
import type { SamlSettings } from '../settings.ts';
import { said } from './said.ts';
import { validCertificates } from './saml-certificates.ts';
import { openAssertion } from './saml-decryption.ts';
import { samlLibrary } from './saml-library.ts';
import { ds, saml } from './saml-names.ts';
import { invalid } from './saml-response.ts';
import { assertionIn, idProblem, signaturesProblem } from './saml-structure.ts';
import { readXml } from './strict-xml.ts';
import { childrenNamed, elementsIn, isNamed, type XmlElement } from './xml-elements.ts';

export type Verified = { ok: true; assertion: XmlElement } | Refusal;

/**
 * Lets the library verify a response that has passed our steps, and reads the assertion anew from the very bytes that
 * it verified: nothing else in the message says anything from here on (node-saml CVE-2025-54419).
 */
export async function verifiedAssertion(
  deps: Deps,
  settings: SamlSettings,
  { text, root }: { text: string; root: XmlElement },
): Promise<Verified> {
  const certificates = validCertificates(settings, deps.now());
  if (certificates.length === 0)
    return { ok: false, reason: 'connection-broken', words: 'no certificate of the provider is valid now' };
  const { element, isEncrypted } = assertionIn(root);
  let decryptionPvk: string | undefined;
  if (isEncrypted) {
    const opened = await openAssertion(root, element, { text, certificates, keys: await portalKeys(deps) });
    if (!opened.ok) return invalid(opened.problem);
    const problem = openedProblem(opened.text);
    if (problem) return invalid(problem);
    decryptionPvk = opened.key.privateKey;
  }
  // A signature that is there must be true, even if the assertion's own would be enough.
  const wantAuthnResponseSigned = childrenNamed(root, ds('Signature')).length > 0;
  const library = samlLibrary(
    deps.config,
    { ...settings, certificates },
    { wantAuthnResponseSigned, ...(decryptionPvk && { decryptionPvk }) },
  );
  try {
    // Encoded by us: what the library reads is what we have read, whatever the field looked like.
    const { profile } = await library.validatePostResponseAsync({ SAMLResponse: Buffer.from(text).toString('base64') });
    return assertionOf(profile?.getAssertionXml?.() ?? '');
  } catch (error) {
    return invalid(`it is not verified: ${said(error instanceof Error ? error.message : null)}`);
  }
}

/** What was encrypted is looked at as the rest was: the library sees it next. */
function openedProblem(text: string): string | null {
  const reading = readXml(text);
  if (!reading.ok) return `what was encrypted cannot be read: ${reading.problem}`;
  const { root } = reading;
  if (!isNamed(root, saml('Assertion'))) return 'what was encrypted is no assertion';
  if (elementsIn(root).some((element) => element !== root && /Assertion$/.test(element.localName)))
    return 'what was encrypted holds more than one assertion';
  return idProblem(root) ?? signaturesProblem(root, [root]);
}

function assertionOf(xml: string): Verified {
  const reading = readXml(xml);
  if (!reading.ok) return invalid(`what was verified cannot be read: ${reading.problem}`);
  return isNamed(reading.root, saml('Assertion'))
    ? { ok: true, assertion: reading.root }
    : invalid('what was verified is no assertion');
}
