import type { Deps } from '../../deps/deps.ts';
import type { SamlConnection } from '../../storage/sso-connection.ts';
import { type Identity, type Refusal, refusalFor } from '../identity.ts';
import { portalKeys } from '../portal-keys.ts';
import { isProviderAddress } from '../provider-fetch.ts';
import { said } from '../provider-words.ts';
import type { SamlKept } from '../visit-details.ts';
import { validCertificates } from './certificates.ts';
import { acceptableUntil, assertionIn, assertionRefusal, type Expected, invalid, responseRefusal } from './checks.ts';
import { decrypt } from './decrypt.ts';
import { samlIdentity, subjectName } from './identity.ts';
import { authnRequestXml, type Carried, carryMessage, newMessageId } from './messages.ts';
import { ds, saml } from './names.ts';
import { verify } from './verify.ts';
import { attributeOf, childrenNamed, isNamed, type XmlElement, type XmlReading } from './xml.ts';

/** What a SAML answer said, and what prevents a second use. */
export type SamlAnswer = { kind: 'ok'; identity: Identity; assertionId: string; endsAt: Date } | Refusal;

/** Where to send a visitor, with a signed AuthnRequest in the address or in the fields of a form (SAML bindings §3.4, §3.5). */
export async function startSaml(
  deps: Deps,
  { settings }: SamlConnection,
  { state, isAfresh = false }: { state: string; isAfresh?: boolean },
): Promise<({ kind: 'ok'; kept: SamlKept } & Carried) | Refusal> {
  const { signOnUrl: to, signOnBinding: binding = 'redirect' } = settings;
  if (!isProviderAddress(to)) return refusalFor('connection-broken', `the sign-on address ${said(to)} is not allowed`);
  const [key] = await portalKeys(deps);
  const id = newMessageId();
  const xml = authnRequestXml({ config: deps.config, id, destination: to, now: deps.now(), isAfresh });
  const carried = await carryMessage({ field: 'SAMLRequest', xml, to, binding, relayState: state }, key);
  return { kind: 'ok', kept: { requestId: id }, ...carried };
}

/** Reads the answer in a SAMLResponse field. */
export async function readSamlAnswer(
  deps: Deps,
  { settings, attributes }: SamlConnection,
  { response, kept }: { response: XmlReading; kept: SamlKept },
): Promise<SamlAnswer> {
  const now = deps.now();
  const expected = { config: deps.config, settings, kept, now };
  const verified = await verifiedAssertion(deps, response, expected);
  if (verified.kind === 'refused') return verified;
  const { assertion } = verified;
  const refusal = assertionRefusal(assertion, expected);
  if (refusal) return refusal;
  const subject = await subjectName(deps, assertion);
  if (subject.kind === 'refused') return subject;
  const identity = samlIdentity(assertion, subject.name, { settings, attributes, config: deps.config });
  if (identity.kind === 'refused') return identity;
  return {
    kind: 'ok',
    identity: identity.identity,
    assertionId: attributeOf(assertion, 'ID') ?? '',
    endsAt: acceptableUntil(assertion),
  };
}

/**
 * The assertion of a response, as the provider signed it: decrypted, verified by its own signature, and read again from
 * the bytes that this covers. A response may be signed too, and then that signature must be valid as well.
 */
async function verifiedAssertion(
  deps: Deps,
  response: XmlReading,
  expected: Expected,
): Promise<{ kind: 'ok'; assertion: XmlElement } | Refusal> {
  if (response.kind === 'refused') return invalid(response.problem);
  const certificates = validCertificates(expected.settings, expected.now);
  if (certificates.length === 0) return refusalFor('connection-broken', 'no certificate of the provider is valid now');
  const isSigned = childrenNamed(response.root, ds('Signature')).length > 0;
  const outer = isSigned ? verify(response.text, response.root, certificates) : response;
  if (outer.kind === 'refused') return invalid(outer.problem);
  const refusal = responseRefusal(outer.root, expected);
  if (refusal) return refusal;
  const { encrypted } = assertionIn(outer.root);
  // A plain one from the message as it came: namespaces that its signature counts may be declared around it.
  const sealed = encrypted && (await decrypt(encrypted, 'assertion', { keys: await portalKeys(deps), isSigned }));
  if (sealed?.kind === 'refused') return invalid(sealed.problem);
  const signed = sealed?.root ?? assertionIn(response.root).plain;
  if (!signed || !isNamed(signed, saml('Assertion'))) return invalid('the decrypted element is not an assertion');
  const verified = verify((sealed ?? response).text, signed, certificates);
  return verified.kind === 'ok' ? { kind: 'ok', assertion: verified.root } : invalid(verified.problem);
}
