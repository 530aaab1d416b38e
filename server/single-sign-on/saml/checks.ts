import type { Config } from '../../config/config.ts';
import { limits } from '../../limits.ts';
import { entityId, publicAddress } from '../addresses.ts';
import type { SamlKept } from '../claim-visit.ts';
import { said } from '../provider-answer.ts';
import type { SamlSettings } from '../sso-connection.ts';
import { idPattern } from './verify.ts';
import {
  attributeOf,
  childrenNamed,
  childrenOf,
  elementsIn,
  isNamed,
  nameFormats,
  saml,
  samlp,
  textOf,
  type XmlElement,
} from './xml.ts';

/** What an answer is compared with. */
export type Expected = { config: Config; settings: SamlSettings; kept: SamlKept; now: Date };

/** What is wrong, in words for an operator; null if nothing is. */
type Problem = string | null;
type Check = (element: XmlElement, expected: Expected) => Problem;

const bearer = 'urn:oasis:names:tc:SAML:2.0:cm:bearer';

/** Checks the response around an assertion (SAML core §3.2.2). Nothing that identifies a person is read here. */
export function responseProblem(root: XmlElement, expected: Expected): Problem {
  return firstOf([isForUs, isFromProvider, answersRequest], root, expected);
}

/** Checks a verified assertion against what we expect (SAML profiles §4.1.4.3, core §2.3 to §2.7). */
export function assertionProblem(assertion: XmlElement, expected: Expected): Problem {
  return firstOf([isWhole, isFresh, isConfirmed, isWithinTime, isForUsAlone, isSignIn], assertion, expected);
}

function firstOf(checks: readonly Check[], element: XmlElement, expected: Expected): Problem {
  for (const check of checks) {
    const problem = check(element, expected);
    if (problem) return problem;
  }
  return null;
}

/** SAML bindings §3.5.5.2. */
function isForUs(root: XmlElement, { config }: Expected): Problem {
  return messageProblem(root, 'Response', publicAddress(config, 'samlAnswer'));
}

/** What is wrong with any message to us: its kind, and its recipient. */
export function messageProblem(root: XmlElement, kind: string, here: string): Problem {
  if (!isNamed(root, samlp(kind))) return `it is not a ${kind} but ${said(root.nodeName)}`;
  if (attributeOf(root, 'Version') !== '2.0') return 'it is not of SAML 2.0';
  if (!idPattern.test(attributeOf(root, 'ID') ?? '')) return 'it has no ID';
  const destination = attributeOf(root, 'Destination');
  return destination === here ? null : `its Destination is ${said(destination)}, not ${said(here)}`;
}

/** SAML profiles §4.1.4.2: the issuer of a response is optional. */
function isFromProvider(root: XmlElement, { settings }: Expected): Problem {
  return childrenNamed(root, saml('Issuer')).length === 0 ? null : issuerProblem(root, settings, 'the response');
}

/** There is one issuer, the provider's exact name, and no other kind of name (SAML core §2.2.5). */
export function issuerProblem(of: XmlElement, { entityId }: SamlSettings, words: string): Problem {
  const [issuer, another] = childrenNamed(of, saml('Issuer'));
  if (!issuer || another) return `${words} does not have one Issuer`;
  const text = textOf(issuer);
  if (text !== entityId) return `the issuer of ${words} is ${said(text)}, not ${said(entityId)}`;
  const format = attributeOf(issuer, 'Format') ?? nameFormats.entity;
  return format === nameFormats.entity ? null : `the issuer of ${words} is named in the format ${said(format)}`;
}

/** SAML profiles §4.1.4.3. */
function answersRequest(root: XmlElement, { kept }: Expected): Problem {
  const inResponseTo = attributeOf(root, 'InResponseTo');
  return inResponseTo === kept.requestId ? null : `it answers ${said(inResponseTo)}, not the request`;
}

/** Wherever a second one hides, by whatever prefix: which one is read must be unambiguous. */
export function assertionCountProblem(root: XmlElement, { settings }: Expected): Problem {
  const all = elementsIn(root).filter(({ localName }) => /^(?:Encrypted)?Assertion$/.test(localName));
  const { plain, encrypted } = assertionIn(root);
  if (all.length !== 1 || !(plain ?? encrypted)) return `it holds ${all.length} assertions, or not in their place`;
  return settings.wantsEncryption && plain ? 'its assertion is not encrypted' : null;
}

/** The assertion of a response. */
export function assertionIn(root: XmlElement): { plain: XmlElement | undefined; encrypted: XmlElement | undefined } {
  const [plain] = childrenNamed(root, saml('Assertion'));
  const [encrypted] = childrenNamed(root, saml('EncryptedAssertion'));
  return { plain, encrypted };
}

/** Required parts occur once: of two, one could be checked and the other read. */
function isWhole(assertion: XmlElement, { settings }: Expected): Problem {
  if (attributeOf(assertion, 'Version') !== '2.0') return 'the assertion is not of SAML 2.0';
  const wrong = ['Subject', 'Conditions'].find((name) => childrenNamed(assertion, saml(name)).length !== 1);
  return wrong ? `the assertion does not have one ${wrong}` : issuerProblem(assertion, settings, 'the assertion');
}

/** Our own limit, whatever the assertion says. */
function isFresh(assertion: XmlElement, { now }: Expected): Problem {
  return ageProblem(assertion, 'the assertion', now);
}

/** Some confirmation says that the bearer, in time and for this request, is the subject. */
function isConfirmed(assertion: XmlElement, expected: Expected): Problem {
  const confirmations = childrenNamed(assertion, saml('Subject'), saml('SubjectConfirmation'));
  const problems = confirmations.map((confirmation) => confirmationProblem(confirmation, expected));
  const [first = 'the assertion does not have its subject confirmed'] = problems;
  return problems.includes(null) ? null : first;
}

/** SAML profiles §4.1.4.2. */
function confirmationProblem(confirmation: XmlElement, { config, kept, now }: Expected): Problem {
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
function isWithinTime(assertion: XmlElement, { now }: Expected): Problem {
  const [conditions] = childrenNamed(assertion, saml('Conditions'));
  if (!conditions) return 'the assertion has no conditions';
  const begins = attributeOf(conditions, 'NotBefore');
  const beginsAt = samlTime(begins);
  if (beginsAt !== null && !(beginsAt <= latest(now))) return `the assertion is valid from ${said(begins)} on`;
  return endProblem(conditions, 'NotOnOrAfter', 'the assertion', now);
}

/** SAML core §2.5.1.4; unknown conditions make an assertion invalid (§2.5.1.1). */
function isForUsAlone(assertion: XmlElement, { config }: Expected): Problem {
  const conditions = childrenNamed(assertion, saml('Conditions')).flatMap(childrenOf);
  const known = [saml('AudienceRestriction'), saml('OneTimeUse'), saml('ProxyRestriction')];
  const strange = conditions.find((child) => !known.some((name) => isNamed(child, name)));
  if (strange) return `the assertion has an unknown condition: ${said(strange.nodeName)}`;
  const restrictions = childrenNamed(assertion, saml('Conditions'), saml('AudienceRestriction'));
  if (restrictions.length !== 1) return 'the assertion does not have one restriction of its audience';
  const audiences = restrictions.flatMap((one) => childrenNamed(one, saml('Audience'))).map(textOf);
  if (audiences.length === 1 && audiences[0] === entityId(config)) return null;
  return `the assertion is for ${audiences.map(said).join(', ') || 'nobody'}, not for ${said(entityId(config))}`;
}

/** SAML core §2.7.2: the person signed in at the provider, not in the future, and the session has not ended. */
function isSignIn(assertion: XmlElement, { now }: Expected): Problem {
  const statements = childrenNamed(assertion, saml('AuthnStatement'));
  if (statements.length === 0) return 'the assertion does not say that anyone signed in';
  for (const statement of statements) {
    const instant = attributeOf(statement, 'AuthnInstant');
    if (!((samlTime(instant) ?? Number.NaN) <= latest(now))) return `the sign-in was at ${said(instant)}`;
    const hasEnd = attributeOf(statement, 'SessionNotOnOrAfter') !== null;
    const ended = hasEnd && endProblem(statement, 'SessionNotOnOrAfter', 'the session at the provider', now);
    if (ended) return ended;
  }
  return null;
}

/** The provider's clock may be this far ahead of ours. */
function latest(now: Date): number {
  return now.getTime() + limits.providerClock;
}

/** Why an element, called `of` in words, is too old or of the future by our own limits; null if it is neither. */
export function ageProblem(element: XmlElement, of: string, now: Date): Problem {
  const text = attributeOf(element, 'IssueInstant');
  const issued = samlTime(text);
  if (issued === null || Number.isNaN(issued)) return `${of} was issued at ${said(text)}, which is not a time`;
  if (issued > latest(now)) return `${of} was issued in the future: ${said(text)}`;
  const isOld = now.getTime() - issued >= limits.samlAssertionAge + limits.providerClock;
  return isOld ? `${of} is too old: it was issued at ${said(text)}` : null;
}

/** Why what an element limits by an attribute, called `of` in words, is over; null if it is not. */
export function endProblem(element: XmlElement, name: string, of: string, now: Date): Problem {
  const text = attributeOf(element, name);
  const end = samlTime(text);
  if (end === null) return `${of} has no end`;
  // Not `<=`: an unreadable time must not count as the future.
  return end > now.getTime() - limits.providerClock ? null : `${of} ended at ${said(text)}`;
}

/** xs:dateTime as in SAML: only in UTC (core §1.3.3), which some write as an offset, or not at all. */
const pattern = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:(\.\d{1,3})\d*)?(?:Z|[+-]00:00)?$/;

/** The time in an attribute, in milliseconds; null if missing, `NaN` if unreadable. */
export function samlTime(text: string | null): number | null {
  if (text === null) return null;
  const [, seconds, fraction = ''] = pattern.exec(text) ?? [];
  return seconds === undefined ? Number.NaN : Date.parse(`${seconds}${fraction}Z`);
}
