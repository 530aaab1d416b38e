import { entityId, publicAddress } from '../addresses.ts';
import type { Refusal } from '../identity.ts';
import { saml } from './names.ts';
import { type Expected, invalid, issuerRefusal } from './response.ts';
import { said } from './said.ts';
import { samlTime } from './time.ts';
import { ageProblem, endProblem, latest } from './validity.ts';
import {
  attributeOf,
  childrenNamed,
  childrenOf,
  isNamed,
  textOf,
  type XmlElement,
  type XmlName,
} from './xml-elements.ts';

type Held = Expected & { now: Date };
type Check = (assertion: XmlElement, held: Held) => Refusal | null;

const bearer = 'urn:oasis:names:tc:SAML:2.0:cm:bearer';

/** Checks a verified assertion against what we expect (SAML profiles §4.1.4.3, core §2.3 to §2.7). */
export function assertionRefusal(assertion: XmlElement, held: Held): Refusal | null {
  const checks: Check[] = [isWhole, isOfProvider, isFresh, isConfirmed, isWithinTime, isForUsAlone, isSignIn];
  for (const check of checks) {
    const refusal = check(assertion, held);
    if (refusal) return refusal;
  }
  return null;
}

/** Required parts occur once: of two, one could be checked and the other read. */
function isWhole(assertion: XmlElement): Refusal | null {
  if (attributeOf(assertion, 'Version') !== '2.0' || !attributeOf(assertion, 'ID'))
    return invalid('the assertion has no ID or is not of SAML 2.0');
  const wrong = ['Issuer', 'Subject', 'Conditions'].find((name) => childrenNamed(assertion, saml(name)).length !== 1);
  return wrong ? invalid(`the assertion does not have one ${wrong}`) : null;
}

function isOfProvider(assertion: XmlElement, { settings }: Held): Refusal | null {
  return issuerRefusal(only(assertion, saml('Issuer')), settings, 'the assertion');
}

/** Our own limit, whatever the assertion says. */
function isFresh(assertion: XmlElement, { now }: Held): Refusal | null {
  const problem = ageProblem(assertion, 'the assertion', now);
  return problem ? invalid(problem) : null;
}

/** Some confirmation says that the bearer, in time and for this request, is the subject. */
function isConfirmed(assertion: XmlElement, held: Held): Refusal | null {
  const confirmations = childrenNamed(only(assertion, saml('Subject')), saml('SubjectConfirmation'));
  const problems = confirmations.map((confirmation) => confirmationProblem(confirmation, held));
  if (problems.includes(null)) return null;
  return invalid(problems[0] ?? 'the assertion does not have its subject confirmed');
}

/** SAML profiles §4.1.4.2. */
function confirmationProblem(confirmation: XmlElement, { config, kept, now }: Held): string | null {
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
function isWithinTime(assertion: XmlElement, { now }: Held): Refusal | null {
  const conditions = only(assertion, saml('Conditions'));
  const begins = attributeOf(conditions, 'NotBefore');
  const beginsAt = samlTime(begins);
  if (beginsAt !== null && !(beginsAt <= latest(now))) return invalid(`the assertion is valid from ${said(begins)} on`);
  const problem = endProblem(conditions, 'NotOnOrAfter', 'the assertion', now);
  return problem ? invalid(problem) : null;
}

/** SAML core §2.5.1.4; unknown conditions make an assertion invalid (§2.5.1.1). */
function isForUsAlone(assertion: XmlElement, { config }: Held): Refusal | null {
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
function isSignIn(assertion: XmlElement, { now }: Held): Refusal | null {
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

function only(parent: XmlElement, name: XmlName): XmlElement {
  const [child] = childrenNamed(parent, name);
  if (!child) throw new Error(`There is no ${name[1]}, although it was checked before`);
  return child;
}
