import type { Config } from '../../config/config.ts';
import type { SamlSettings } from '../../storage/sso-settings.ts';
import { publicAddress } from '../addresses.ts';
import { type Refusal, refusalFor } from '../identity.ts';
import type { SamlKept } from '../request-details.ts';
import { ds, saml, samlp } from './names.ts';
import { said } from './said.ts';
import { idPattern } from './signature.ts';
import { assertionIn, assertionProblem, idProblem, partsProblem, signaturesProblem } from './structure.ts';
import { attributeOf, childrenNamed, elementsIn, isNamed, textOf, type XmlElement } from './xml-elements.ts';

/** What an answer is compared with. */
export type Expected = { config: Config; settings: SamlSettings; kept: SamlKept };

const success = 'urn:oasis:names:tc:SAML:2.0:status:Success';

/**
 * What a response contains beside its assertion (SAML core §3.2.2); the library checks neither other parts nor
 * duplicates.
 */
const parts = [saml('Issuer'), ds('Signature'), samlp('Extensions'), samlp('Status')];

/**
 * Checks the response around an assertion, before anything in it is verified: only what passes reaches the library.
 * Nothing that identifies a person is read here.
 */
export function responseRefusal(root: XmlElement, expected: Expected): Refusal | null {
  const steps = [
    isResponse,
    isSuccess,
    isForUs,
    isFromProvider,
    answersRequest,
    hasOneAssertion,
    hasOwnIds,
    isSignedAsAllowed,
  ];
  for (const step of steps) {
    const refusal = step(root, expected);
    if (refusal) return refusal;
  }
  return null;
}

/** The refusal of an answer that fails a check. */
export function invalid(words: string): Refusal {
  return refusalFor('answer-invalid', words);
}

function isResponse(root: XmlElement): Refusal | null {
  if (!isNamed(root, samlp('Response'))) return invalid(`it is not a SAML response but ${said(root.nodeName)}`);
  if (attributeOf(root, 'Version') !== '2.0') return invalid('it is not of SAML 2.0');
  if (!idPattern.test(attributeOf(root, 'ID') ?? '')) return invalid('it has no ID');
  const problem = partsProblem(root, parts, [saml('Assertion'), saml('EncryptedAssertion')]);
  return problem ? invalid(problem) : null;
}

/** SAML core §3.2.2.2: the outer status counts, whatever assertion is inside. */
function isSuccess(root: XmlElement): Refusal | null {
  const [status] = childrenNamed(root, samlp('Status'));
  const [code, another] = status ? childrenNamed(status, samlp('StatusCode')) : [];
  if (!status || !code || another) return invalid('it does not have one status');
  if (attributeOf(code, 'Value') === success) return null;
  const codes = elementsIn(code).map((element) => said(attributeOf(element, 'Value')));
  const [message] = childrenNamed(status, samlp('StatusMessage'));
  const words = message ? `: ${said(textOf(message))}` : '';
  return refusalFor('provider-refused', `the provider says ${codes.join(', ')}${words}`);
}

/** SAML bindings §3.5.5.2. */
function isForUs(root: XmlElement, { config }: Expected): Refusal | null {
  const destination = attributeOf(root, 'Destination');
  if (destination === publicAddress(config, 'samlAnswer')) return null;
  return invalid(`its Destination is ${said(destination)}, not ${said(publicAddress(config, 'samlAnswer'))}`);
}

/** SAML profiles §4.1.4.2: the issuer of a response is optional. */
function isFromProvider(root: XmlElement, { settings }: Expected): Refusal | null {
  const [issuer] = childrenNamed(root, saml('Issuer'));
  return issuer ? issuerRefusal(issuer, settings, 'the response') : null;
}

/** An issuer must be the provider's exact name, and no other kind of name (SAML core §2.2.5). */
export function issuerRefusal(issuer: XmlElement, { entityId }: SamlSettings, of: string): Refusal | null {
  const text = textOf(issuer);
  if (text !== entityId) return invalid(`the issuer of ${of} is ${said(text)}, not ${said(entityId)}`);
  const format = attributeOf(issuer, 'Format');
  if (format === null || format === 'urn:oasis:names:tc:SAML:2.0:nameid-format:entity') return null;
  return invalid(`the issuer of ${of} is named in the format ${said(format)}`);
}

/** SAML profiles §4.1.4.3: an answer names our request. */
function answersRequest(root: XmlElement, { kept }: Expected): Refusal | null {
  const inResponseTo = attributeOf(root, 'InResponseTo');
  return inResponseTo === kept.requestId ? null : invalid(`it answers ${said(inResponseTo)}, not the request`);
}

function hasOneAssertion(root: XmlElement, { settings }: Expected): Refusal | null {
  const problem = assertionProblem(root);
  if (problem) return invalid(problem);
  if (settings.wantsEncryption && !assertionIn(root).isEncrypted) return invalid('its assertion is not encrypted');
  return null;
}

function hasOwnIds(root: XmlElement): Refusal | null {
  const problem = idProblem(root);
  return problem ? invalid(problem) : null;
}

/** At most one signature of the response, and one of its assertion. */
function isSignedAsAllowed(root: XmlElement): Refusal | null {
  const { element, isEncrypted } = assertionIn(root);
  const signed = childrenNamed(root, ds('Signature')).length > 0 ? [root] : [];
  if (!isEncrypted) signed.push(element);
  const problem = signaturesProblem(root, signed);
  return problem ? invalid(problem) : null;
}
