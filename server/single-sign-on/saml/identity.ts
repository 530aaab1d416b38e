import type { Config } from '../../config/config.ts';
import { entityId } from '../addresses.ts';
import { type ProviderAnswer, type Refusal, refusalFor, said } from '../provider-answer.ts';
import type { SamlConnection } from '../sso-connection.ts';
import { samlTime } from './checks.ts';
import { attributeOf, childrenNamed, childrenOf, isNamed, nameFormats, saml, textOf, type XmlElement } from './xml.ts';

/** The usual names of an email address, if the connection names none. */
const emailAttributes = [
  'email',
  'mail',
  'urn:oid:0.9.2342.19200300.100.1.3',
  // Keycloak's X500 email.
  'urn:oid:1.2.840.113549.1.9.1',
  'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress',
];

/** The refusal of an answer that fails a check. */
export function invalid(words: string): Refusal {
  return refusalFor('answer-invalid', words);
}

/**
 * What a verified assertion says of a person. The subject is its NameID as written, for this connection; SAML cannot
 * express that an address is verified, so it never is (the operator may trust the provider for it).
 */
export function samlIdentity(
  config: Config,
  assertion: XmlElement,
  { settings, attributes }: Pick<SamlConnection, 'settings' | 'attributes'>,
): ProviderAnswer {
  const parts = childrenNamed(assertion, saml('Subject')).flatMap(childrenOf);
  const [name, another] = parts.filter((part) => !isNamed(part, saml('SubjectConfirmation')));
  if (!name || another || !isNamed(name, saml('NameID'))) return invalid('the subject does not have one NameID');
  const subject = textOf(name) ?? '';
  const [format, by, to] = ['Format', 'NameQualifier', 'SPNameQualifier'].map((one) => attributeOf(name, one));
  if (format === nameFormats.transient)
    return invalid('the NameID is for this visit only (transient); configure the provider to send a persistent NameID');
  if (!isName(subject)) return invalid(`the NameID ${said(textOf(name))} cannot be used`);
  // SAML core §8.3.7: a persistent name is only unique together with its issuer and recipient.
  const isOwn = (by ?? settings.entityId) === settings.entityId && (to ?? entityId(config)) === entityId(config);
  if (format === nameFormats.persistent && !isOwn)
    return invalid('the NameID was assigned by another party than the provider, or for another party than us');
  const value = (attribute: string | undefined) => (attribute ? theOne(valuesOf(assertion, [attribute])) : null);
  const nameAsEmail = format === nameFormats.email ? [subject] : valuesOf(assertion, emailAttributes);
  const emails = attributes.email ? valuesOf(assertion, [attributes.email]) : nameAsEmail;
  const statements = childrenNamed(assertion, saml('AuthnStatement'));
  const sessions = statements.map((statement) => attributeOf(statement, 'SessionIndex'));
  // SAML core §2.7.2: the provider's name for its session, if there is exactly one.
  const session = new Set(sessions).size === 1 ? (sessions[0] ?? null) : null;
  return {
    kind: 'ok',
    identity: {
      subject,
      email: theOne(emails),
      ...(emails.length > 0 && theOne(emails) === null && { tellsSeveralEmails: true }),
      emailVerified: false,
      username: value(attributes.username),
      language: value(attributes.language),
      authenticationContexts: textsOf(
        childrenNamed(assertion, saml('AuthnStatement'), saml('AuthnContext'), saml('AuthnContextClassRef')),
      ),
      authenticatedAt: earliest(statements, 'AuthnInstant'),
      sessionEndsAt: earliest(statements, 'SessionNotOnOrAfter'),
      idToken: null,
      ...(session !== null && { session }),
      samlName: {
        name: subject,
        format: format ?? null,
        nameQualifier: by ?? null,
        spNameQualifier: to ?? null,
        sessionIndex: session,
      },
    },
  };
}

/** Fit to store and show: 1 to 255 characters, without control characters or surrounding whitespace. */
function isName(text: string): boolean {
  return /^.{1,255}$/su.test(text) && !/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u.test(text) && text.trim() === text;
}

/** The values of the attributes with these names. */
function valuesOf(assertion: XmlElement, names: readonly string[]): string[] {
  const attributes = childrenNamed(assertion, saml('AttributeStatement'), saml('Attribute'));
  const meant = attributes.filter((attribute) => names.includes(attributeOf(attribute, 'Name') ?? ''));
  return textsOf(meant.flatMap((attribute) => childrenNamed(attribute, saml('AttributeValue'))));
}

function textsOf(elements: readonly XmlElement[]): string[] {
  return elements.map((element) => textOf(element) ?? '').filter((text) => text !== '');
}

/** The value; null if there are different ones. */
function theOne(values: readonly string[]): string | null {
  const [value = null] = values;
  return new Set(values.map((text) => text.toLowerCase())).size === 1 ? value : null;
}

/** The strictest of several statements counts; all times in them are already checked. */
function earliest(statements: readonly XmlElement[], name: 'AuthnInstant' | 'SessionNotOnOrAfter'): number | null {
  const times = statements.map((one) => samlTime(attributeOf(one, name))).filter((time) => time !== null);
  return times.length === 0 ? null : Math.min(...times);
}
