import type { Deps } from '../../deps/deps.ts';
import type { SamlSettings } from '../../storage/sso-settings.ts';
import { type Refusal, refusalFor } from '../identity.ts';
import { portalKeys } from '../portal-keys.ts';
import { validCertificates } from './certificates.ts';
import { openEncrypted } from './decryption.ts';
import { ds, saml } from './names.ts';
import { invalid } from './response.ts';
import { said } from './said.ts';
import { readXml } from './strict-xml.ts';
import { assertionIn, assertionProblem, idProblem, signaturesProblem } from './structure.ts';
import { VerificationsDisagree, verifiedXml } from './verified-xml.ts';
import { childrenNamed, elementsIn, isNamed, type XmlElement } from './xml-elements.ts';

export type Verified = { kind: 'ok'; assertion: XmlElement } | Refusal;

/**
 * Verifies a response that has passed our checks, and reads the assertion again from the exact bytes that its signature
 * covers: from here on nothing else in the message counts.
 */
export async function verifiedAssertion(deps: Deps, settings: SamlSettings, root: XmlElement): Promise<Verified> {
  try {
    return await verified(deps, settings, root);
  } catch (error) {
    if (!(error instanceof VerificationsDisagree)) throw error;
    const problem = said(error.message);
    deps.log.error({ provider: settings.entityId, problem }, 'SAML: our steps and the library disagree on a signature');
    return invalid(`it is not verified: our steps and the library disagree, which is a bug of ours: ${problem}`);
  }
}

async function verified(deps: Deps, settings: SamlSettings, root: XmlElement): Promise<Verified> {
  const certificates = validCertificates(settings, deps.now());
  if (certificates.length === 0) return refusalFor('connection-broken', 'no certificate of the provider is valid now');
  const isSigned = childrenNamed(root, ds('Signature')).length > 0;
  const covered = isSigned ? verifiedXml(root, certificates) : null;
  // An existing signature must be valid, even if the assertion's own would be enough.
  if (isSigned && covered === null) return invalid('it is not verified: the signature of its Response is invalid');
  const { element, isEncrypted } = assertionIn(root);
  if (!isEncrypted) return assertionOf(element, certificates);
  const sealed = covered === null ? element : encryptedIn(covered);
  if (!sealed) return invalid('the verified part has no encrypted assertion');
  const opened = await openEncrypted(sealed, 'assertion', { keys: await portalKeys(deps), isVerified: isSigned });
  if (opened.kind === 'refused') return invalid(opened.problem);
  const reading = readXml(opened.text);
  if (reading.kind === 'refused') return invalid(`the decrypted part cannot be read: ${reading.problem}`);
  const problem = openedProblem(reading.root);
  return problem ? invalid(problem) : assertionOf(reading.root, certificates);
}

/** The encrypted assertion as covered by the signature around it. */
function encryptedIn(covered: string): XmlElement | null {
  const reading = readXml(covered);
  if (reading.kind === 'refused' || assertionProblem(reading.root)) return null;
  const { element, isEncrypted } = assertionIn(reading.root);
  return isEncrypted ? element : null;
}

/** Decrypted content is checked like the rest. */
function openedProblem(root: XmlElement): string | null {
  if (!isNamed(root, saml('Assertion'))) return 'the decrypted element is not an assertion';
  if (elementsIn(root).some((element) => element !== root && /Assertion$/.test(element.localName)))
    return 'the decrypted part has more than one assertion';
  return idProblem(root) ?? signaturesProblem(root, [root]);
}

function assertionOf(signed: XmlElement, certificates: readonly string[]): Verified {
  const covered = verifiedXml(signed, certificates);
  if (covered === null) return invalid('it is not verified: the signature of its Assertion is invalid');
  const reading = readXml(covered);
  if (reading.kind === 'refused') return invalid(`the verified part cannot be read: ${reading.problem}`);
  return isNamed(reading.root, saml('Assertion'))
    ? { kind: 'ok', assertion: reading.root }
    : invalid('the verified element is not an assertion');
}
