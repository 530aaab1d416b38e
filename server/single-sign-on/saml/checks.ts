import type { Config } from '../../config/config.ts';
import { limits } from '../../limits.ts';
import type { SamlSettings } from '../../storage/sso-settings.ts';
import { entityId, publicAddress } from '../addresses.ts';
import { type Refusal, refusalFor } from '../identity.ts';
import { said } from '../provider-words.ts';
import type { SamlKept } from '../visit-details.ts';
import { nameFormats, saml, samlp } from './names.ts';
import { idPattern } from './verify.ts';
import {
  attributeOf,
  childrenNamed,
  childrenOf,
  elementsIn,
  isNamed,
  textOf,
  type XmlElement,
  type XmlName,
} from './xml.ts';

/** What an answer is compared with. */
export type Expected = { config: Config; settings: SamlSettings; kept: SamlKept; now: Date };
type Check = (element: XmlElement, expected: Expected) => Refusal | null;

const bearer = 'urn:oasis:names:tc:SAML:2.0:cm:bearer';
const success = 'urn:oasis:names:tc:SAML:2.0:status:Success';

/** Checks the response around an assertion. Nothing that identifies a person is read here. */
export function responseRefusal(root: XmlElement, expected: Expected): Refusal | null {
  return firstOf([isResponse, isSuccess, isForUs, isFromProvider, answersRequest, hasOneAssertion], root, expected);
}

/** Checks a verified assertion against what we expect (SAML profiles §4.1.4.3, core §2.3 to §2.7). */
export function assertionRefusal(assertion: XmlElement, expected: Expected): Refusal | null {
  const checks = [isWhole, isOfProvider, isFresh, isConfirmed, isWithinTime, isForUsAlone, isSignIn];
  return firstOf(checks, assertion, expected);
}

function firstOf(checks: readonly Check[], element: XmlElement, expected: Expected): Refusal | null {
  for (const check of checks) {
    const refusal = check(element, expected);
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
  return idPattern.test(attributeOf(root, 'ID') ?? '') ? null : invalid('it has no ID');
}

/** SAML core §3.2.2.2: the outer status counts, whatever assertion is inside. */
function isSuccess(root: XmlElement): Refusal | null {
  const [status, second] = childrenNamed(root, samlp('Status'));
  const [code, another] = status ? childrenNamed(status, samlp('StatusCode')) : [];
  if (!status || second || !code || another) return invalid('it does not have one status');
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
  if (format === null || format === nameFormats.entity) return null;
  return invalid(`the issuer of ${of} is named in the format ${said(format)}`);
}

/** SAML profiles §4.1.4.3: an answer names our request. */
function answersRequest(root: XmlElement, { kept }: Expected): Refusal | null {
  const inResponseTo = attributeOf(root, 'InResponseTo');
  return inResponseTo === kept.requestId ? null : invalid(`it answers ${said(inResponseTo)}, not the request`);
}

/** Wherever a second one hides, by whatever prefix: which one is read must be unambiguous. */
function hasOneAssertion(root: XmlElement, { settings }: Expected): Refusal | null {
  const all = elementsIn(root).filter(({ localName }) => /^(?:Encrypted)?Assertion$/.test(localName));
  const { plain, encrypted } = assertionIn(root);
  if (all.length !== 1 || !(plain ?? encrypted))
    return invalid(`it holds ${all.length} assertions, or not in their place`);
  return settings.wantsEncryption && plain ? invalid('its assertion is not encrypted') : null;
}

/** The assertion of a response. */
export function assertionIn(root: XmlElement): { plain: XmlElement | undefined; encrypted: XmlElement | undefined } {
  const [plain] = childrenNamed(root, saml('Assertion'));
  const [encrypted] = childrenNamed(root, saml('EncryptedAssertion'));
  return { plain, encrypted };
}

/** Required parts occur once: of two, one could be checked and the other read. */
function isWhole(assertion: XmlElement): Refusal | null {
  if (attributeOf(assertion, 'Version') !== '2.0' || !attributeOf(assertion, 'ID'))
    return invalid('the assertion has no ID or is not of SAML 2.0');
  const wrong = ['Issuer', 'Subject', 'Conditions'].find((name) => childrenNamed(assertion, saml(name)).length !== 1);
  return wrong ? invalid(`the assertion does not have one ${wrong}`) : null;
}

function isOfProvider(assertion: XmlElement, { settings }: Expected): Refusal | null {
  return issuerRefusal(only(assertion, saml('Issuer')), settings, 'the assertion');
}

/** Our own limit, whatever the assertion says. */
function isFresh(assertion: XmlElement, { now }: Expected): Refusal | null {
  return invalidIf(ageProblem(assertion, 'the assertion', now));
}

/** Some confirmation says that the bearer, in time and for this request, is the subject. */
function isConfirmed(assertion: XmlElement, held: Expected): Refusal | null {
  const confirmations = childrenNamed(only(assertion, saml('Subject')), saml('SubjectConfirmation'));
  const problems = confirmations.map((confirmation) => confirmationProblem(confirmation, held));
  if (problems.includes(null)) return null;
  return invalid(problems[0] ?? 'the assertion does not have its subject confirmed');
}

/** SAML profiles §4.1.4.2. */
function confirmationProblem(confirmation: XmlElement, { config, kept, now }: Expected): string | null {
  const method = attributeOf(confirmation, 'Method');
  if (method !== bearer) return `the subject is confirmed by ${said(method)}, not by bearer`;
  const [data, another] = childrenNamed(confirmation, saml('SubjectConfirmationData'));
  if (!data || another) return 'the confirmation of the subject does not have one set of data';
  const recipient = attributeOf(data, 'Recipient');
  if (recipient !== publicAddress(config, 'samlAnswer')) return `the assertion is for the recipient ${said(recipient)}`;
  if (attributeOf(data, 'NotBefore') !== null) return 'the confirmation of the subject has a NotBefore';
  const inResponseTo = attributeOf(data, 'InResponseTo');
  if (inResponseTo !== kept.requestId) return `the assertion answers ${said(inResponseTo)}, not the request`;
  return endProblem(data, 'NotOnOrAfter', 'the confirmation of the subject', now);
}

/** SAML core §2.5.1.2. However long it claims to be valid, `isFresh` limits it. */
function isWithinTime(assertion: XmlElement, { now }: Expected): Refusal | null {
  const conditions = only(assertion, saml('Conditions'));
  const begins = attributeOf(conditions, 'NotBefore');
  const beginsAt = samlTime(begins);
  if (beginsAt !== null && !(beginsAt <= latest(now))) return invalid(`the assertion is valid from ${said(begins)} on`);
  return invalidIf(endProblem(conditions, 'NotOnOrAfter', 'the assertion', now));
}

/** SAML core §2.5.1.4; unknown conditions make an assertion invalid (§2.5.1.1). */
function isForUsAlone(assertion: XmlElement, { config }: Expected): Refusal | null {
  const conditions = only(assertion, saml('Conditions'));
  const known = [saml('AudienceRestriction'), saml('OneTimeUse'), saml('ProxyRestriction')];
  const strange = childrenOf(conditions).find((child) => !known.some((name) => isNamed(child, name)));
  if (strange) return invalid(`the assertion has an unknown condition: ${said(strange.nodeName)}`);
  const [restriction, another] = childrenNamed(conditions, saml('AudienceRestriction'));
  if (!restriction || another) return invalid('the assertion does not have one restriction of its audience');
  const audiences = childrenNamed(restriction, saml('Audience')).map(textOf);
  if (audiences.length === 1 && audiences[0] === entityId(config)) return null;
  return invalid(
    `the assertion is for ${audiences.map(said).join(', ') || 'nobody'}, not for ${said(entityId(config))}`,
  );
}

/** SAML core §2.7.2: the person signed in at the provider, not in the future, and the session has not ended. */
function isSignIn(assertion: XmlElement, { now }: Expected): Refusal | null {
  const statements = childrenNamed(assertion, saml('AuthnStatement'));
  if (statements.length === 0) return invalid('the assertion does not say that anyone signed in');
  for (const statement of statements) {
    const instant = attributeOf(statement, 'AuthnInstant');
    if (!((samlTime(instant) ?? Number.NaN) <= latest(now))) return invalid(`the sign-in was at ${said(instant)}`);
    const ended = attributeOf(statement, 'SessionNotOnOrAfter');
    const problem =
      ended === null ? null : endProblem(statement, 'SessionNotOnOrAfter', 'the session at the provider', now);
    if (problem) return invalid(problem);
  }
  return null;
}

function invalidIf(problem: string | null): Refusal | null {
  return problem === null ? null : invalid(problem);
}

function only(parent: XmlElement, name: XmlName): XmlElement {
  const [child] = childrenNamed(parent, name);
  if (!child) throw new Error(`There is no ${name[1]}, although it was checked before`);
  return child;
}

/** The provider's clock may be this far ahead of ours. */
export function latest(now: Date): number {
  return now.getTime() + limits.providerClock;
}

/** When a message or an assertion is too old for every check, so that its use need not be remembered any longer. */
export function acceptableUntil(element: XmlElement): Date {
  const issued = samlTime(attributeOf(element, 'IssueInstant')) ?? 0;
  return new Date(issued + limits.samlAssertionAge + limits.providerClock);
}

/** Why an element, called `of` in words, is too old or of the future by our own limits; null if it is neither. */
export function ageProblem(element: XmlElement, of: string, now: Date): string | null {
  const text = attributeOf(element, 'IssueInstant');
  const issued = samlTime(text);
  if (issued === null || Number.isNaN(issued)) return `${of} was issued at ${said(text)}, which is not a time`;
  if (issued > latest(now)) return `${of} was issued in the future: ${said(text)}`;
  return now < acceptableUntil(element) ? null : `${of} is too old: it was issued at ${said(text)}`;
}

/** Why what an element limits by an attribute, called `of` in words, is over; null if it is not. */
export function endProblem(element: XmlElement, name: string, of: string, now: Date): string | null {
  const text = attributeOf(element, name);
  const end = samlTime(text);
  if (end === null) return `${of} has no end`;
  // Not `<=`: an unreadable time must not count as the future.
  return end > now.getTime() - limits.providerClock ? null : `${of} ended at ${said(text)}`;
}

/** xs:dateTime as in SAML: only in UTC (core §1.3.3). */
const pattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;

/** The time in an attribute, in milliseconds; null if missing, `NaN` if unreadable. */
export function samlTime(text: string | null): number | null {
  if (text === null) return null;
  return pattern.test(text) ? Date.parse(text.replace(/(\.\d{3})\d+/, '$1')) : Number.NaN;
}
