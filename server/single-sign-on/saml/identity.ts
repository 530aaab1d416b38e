import { isEmailAddress } from '#contract/addresses.ts';
import type { Config } from '../../config/config.ts';
import { entityId } from '../addresses.ts';
import { type ProviderAnswer, type Refusal, refusalFor, said } from '../provider-answer.ts';
import { differentTexts, isSubject, type ProviderValues, readProviderValues, userFrom } from '../provider-values.ts';
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

/** By this name, `--map` means the NameID. */
const nameIdValue = 'NameID';

/** The refusal of an answer that fails a check. */
export function invalid(words: string): Refusal {
  return refusalFor('answer-invalid', words);
}

/**
 * What a verified assertion says of a person. The subject is its NameID, for this connection; SAML cannot
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
  if (!isSubject(subject)) return invalid(`the NameID ${said(textOf(name))} cannot be used`);
  // SAML core §8.3.7: a persistent name is only unique together with its issuer and recipient.
  const isOwn = (by ?? settings.entityId) === settings.entityId && (to ?? entityId(config)) === entityId(config);
  if (format === nameFormats.persistent && !isOwn)
    return invalid('the NameID was assigned by another party than the provider, or for another party than us');
  const values = valuesOf(assertion);
  const attributeNames = [...values.keys()];
  values.set(nameIdValue, [subject]);
  const usual = format === nameFormats.email ? [nameIdValue] : emailAttributes;
  const emails = (attributes.email ? [attributes.email] : usual).flatMap((one) => values.get(one) ?? []);
  const formatInWords = format ? format.replace(/^urn:oasis:names:tc:/, '') : 'without a format';
  const statements = childrenNamed(assertion, saml('AuthnStatement'));
  const sessions = statements.map((statement) => attributeOf(statement, 'SessionIndex'));
  // SAML core §2.7.2: the provider's name for its session, if there is exactly one.
  const session = new Set(sessions).size === 1 ? (sessions[0] ?? null) : null;
  return {
    kind: 'ok',
    identity: {
      subject,
      sent: [`NameID (${isEmailAddress(subject) ? 'an address, ' : ''}${formatInWords})`, ...attributeNames],
      emails: differentTexts(emails),
      emailVerified: false,
      ...userFrom(values, attributes),
      authenticationContexts: childrenNamed(
        assertion,
        ...[saml('AuthnStatement'), saml('AuthnContext'), saml('AuthnContextClassRef')],
      ).flatMap((element) => textOf(element) || []),
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

function valuesOf(assertion: XmlElement): ProviderValues {
  const attributes = childrenNamed(assertion, saml('AttributeStatement'), saml('Attribute'));
  const texts = (attribute: XmlElement) => childrenNamed(attribute, saml('AttributeValue')).map(textOf);
  return readProviderValues(attributes.map((one) => [attributeOf(one, 'Name') ?? '', texts(one)]));
}

/** The strictest of several statements counts; all times in them are already checked. */
function earliest(statements: readonly XmlElement[], name: 'AuthnInstant' | 'SessionNotOnOrAfter'): number | null {
  const times = statements.map((one) => samlTime(attributeOf(one, name))).filter((time) => time !== null);
  return times.length === 0 ? null : Math.min(...times);
}
