import type { Config } from '../../config/config.ts';
import type { Deps } from '../../deps/deps.ts';
import type { Attributes, SamlSettings } from '../../storage/sso-settings.ts';
import { entityId } from '../addresses.ts';
import type { Identity, Refusal } from '../identity.ts';
import { portalKeys } from '../portal-keys.ts';
import { said } from '../provider-words.ts';
import { invalid, samlTime } from './checks.ts';
import { decrypt } from './decrypt.ts';
import { nameFormats, saml } from './names.ts';
import { attributeOf, childrenNamed, childrenOf, isNamed, textOf, type XmlElement } from './xml.ts';

/** The usual names of an email address, if the connection names none. */
const emailAttributes = [
  'email',
  'mail',
  'urn:oid:0.9.2342.19200300.100.1.3',
  // Keycloak's X500 email.
  'urn:oid:1.2.840.113549.1.9.1',
  'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress',
];

type Reading = { config: Config; settings: SamlSettings; attributes: Attributes };

/**
 * What a verified assertion says of a person. The subject is its NameID as written, for this connection; SAML cannot
 * express that an address is verified, so it never is (the operator may trust the provider for it).
 */
export function samlIdentity(
  assertion: XmlElement,
  nameId: XmlElement,
  reading: Reading,
): { kind: 'ok'; identity: Identity } | Refusal {
  const name = nameOf(nameId, reading);
  if (name.kind === 'refused') return name;
  const { attributes } = reading;
  const nameAsEmail = name.format === nameFormats.email ? name.subject : null;
  const emails = attributes.email
    ? valuesOf(assertion, [attributes.email])
    : nameAsEmail !== null
      ? [nameAsEmail]
      : valuesOf(assertion, emailAttributes);
  const session = sessionIndexOf(assertion);
  return {
    kind: 'ok',
    identity: {
      subject: name.subject,
      email: theOne(emails),
      ...(emails.length > 0 && theOne(emails) === null && { tellsSeveralEmails: true }),
      emailVerified: false,
      username: attributes.username ? theOne(valuesOf(assertion, [attributes.username])) : null,
      language: attributes.language ? theOne(valuesOf(assertion, [attributes.language])) : null,
      authenticationContexts: authenticationContexts(assertion),
      authenticatedAt: earliest(assertion, 'AuthnInstant'),
      sessionEndsAt: earliest(assertion, 'SessionNotOnOrAfter'),
      idToken: null,
      ...(session !== null && { session }),
      samlName: {
        name: name.subject,
        format: name.format,
        nameQualifier: attributeOf(nameId, 'NameQualifier'),
        spNameQualifier: attributeOf(nameId, 'SPNameQualifier'),
        sessionIndex: session,
      },
    },
  };
}

type Name = { kind: 'ok'; subject: string; format: string | null };

/** A name that can permanently identify a person, or the refusal. */
function nameOf(name: XmlElement, reading: Reading): Name | Refusal {
  const format = attributeOf(name, 'Format');
  if (format === nameFormats.transient)
    return invalid('the NameID is for this visit only (transient); configure the provider to send a persistent NameID');
  const subject = textOf(name);
  if (subject === null || !isName(subject)) return invalid(`the NameID ${said(subject)} cannot be used`);
  if (format === nameFormats.persistent && !isOwnName(name, reading))
    return invalid('the NameID was assigned by another party than the provider, or for another party than us');
  return { kind: 'ok', subject, format };
}

/** Fit to store and show: 1 to 255 characters, without control characters or surrounding whitespace. */
function isName(text: string): boolean {
  return /^.{1,255}$/su.test(text) && !/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u.test(text) && text.trim() === text;
}

/** A persistent name is only unique together with its issuer and recipient (SAML core §8.3.7). */
function isOwnName(name: XmlElement, { config, settings }: Reading): boolean {
  const [by, to] = [attributeOf(name, 'NameQualifier'), attributeOf(name, 'SPNameQualifier')];
  return (by === null || by === settings.entityId) && (to === null || to === entityId(config));
}

/** The values of the attributes with these names. */
function valuesOf(assertion: XmlElement, names: readonly string[]): string[] {
  return childrenNamed(assertion, saml('AttributeStatement'))
    .flatMap((statement) => childrenNamed(statement, saml('Attribute')))
    .filter((attribute) => names.includes(attributeOf(attribute, 'Name') ?? ''))
    .flatMap((attribute) => childrenNamed(attribute, saml('AttributeValue')))
    .map(textOf)
    .filter((text) => text !== null && text !== '')
    .map(String);
}

/** The value; null if there are different ones. */
function theOne(values: readonly string[]): string | null {
  const [value = null] = values;
  return new Set(values.map((text) => text.toLowerCase())).size === 1 ? value : null;
}

/** The strictest of several statements counts; all times in them are already checked. */
function earliest(assertion: XmlElement, name: 'AuthnInstant' | 'SessionNotOnOrAfter'): number | null {
  const times = childrenNamed(assertion, saml('AuthnStatement'))
    .map((statement) => samlTime(attributeOf(statement, name)))
    .filter((time) => time !== null);
  return times.length === 0 ? null : Math.min(...times);
}

/** The provider's name for its session, if there is exactly one (SAML core §2.7.2). */
function sessionIndexOf(assertion: XmlElement): string | null {
  const names = childrenNamed(assertion, saml('AuthnStatement')).map((statement) =>
    attributeOf(statement, 'SessionIndex'),
  );
  return new Set(names).size === 1 ? (names[0] ?? null) : null;
}

function authenticationContexts(assertion: XmlElement): string[] {
  return childrenNamed(assertion, saml('AuthnStatement'))
    .flatMap((statement) => childrenNamed(statement, saml('AuthnContext')))
    .flatMap((context) => childrenNamed(context, saml('AuthnContextClassRef')))
    .map(textOf)
    .filter((text) => text !== null && text !== '')
    .map(String);
}

/**
 * The one NameID of the subject of a verified assertion, decrypted if necessary (SAML core §2.2.4). The assertion's
 * signature covers the encrypted data, so AES-CBC is safe here.
 */
export async function subjectName(
  deps: Deps,
  assertion: XmlElement,
): Promise<{ kind: 'ok'; name: XmlElement } | Refusal> {
  const parts = childrenNamed(assertion, saml('Subject')).flatMap(childrenOf);
  const names = parts.filter((part) => !isNamed(part, saml('SubjectConfirmation')));
  return await openedName(deps, names);
}

/** The one NameID among elements that a verified signature covers, decrypted if necessary. */
export async function openedName(
  deps: Deps,
  [name, another]: readonly XmlElement[],
): Promise<{ kind: 'ok'; name: XmlElement } | Refusal> {
  if (!name || another) return invalid('the subject does not have one NameID');
  if (isNamed(name, saml('NameID'))) return { kind: 'ok', name };
  if (!isNamed(name, saml('EncryptedID'))) return invalid('the subject does not have one NameID');
  const opened = await decrypt(name, 'NameID', { keys: await portalKeys(deps), isSigned: true });
  if (opened.kind === 'refused') return invalid(opened.problem);
  return isNamed(opened.root, saml('NameID'))
    ? { kind: 'ok', name: opened.root }
    : invalid('the decrypted element is not a NameID');
}
