import { X509Certificate } from 'node:crypto';
import { isProviderAddress } from '../../config/public-url.ts';
import { type Conversation, ProviderFailure } from '../../http/provider-fetch.ts';
import { day, limits } from '../../limits.ts';
import { said } from '../provider-answer.ts';
import type { SamlLogoutService, SamlSettings } from '../sso-connection.ts';
import {
  attributeOf,
  bindings,
  childrenNamed,
  descendantsNamed,
  ds,
  elementsIn,
  isNamed,
  md,
  namespaces,
  readXml,
  trimmed,
  type XmlElement,
} from './xml.ts';

/** What a provider's metadata say of it. */
export type SamlMetadata = Pick<SamlSettings, 'entityId' | 'signOnUrl' | 'signOnBinding' | 'logout' | 'certificates'>;

type MetadataReading =
  | { kind: 'ok'; settings: SamlMetadata; warnings: string[] }
  /** In words that say what is missing. */
  | { kind: 'refused'; problem: string };

/**
 * Reads a provider's metadata, from a file or an address (SAML metadata §2). They say whom to trust, so their source
 * must be trusted itself: a signature on them is ignored.
 */
export function readSamlMetadata(text: string, now: Date): MetadataReading {
  if (text.length > limits.providerBytes) return { kind: 'refused', problem: 'the metadata are too long' };
  const reading = readXml(trimmed(text), { isMessage: false, signs: limits.samlMetadataSigns });
  if (reading.kind === 'refused')
    return { kind: 'refused', problem: `the metadata cannot be read: ${reading.problem}` };
  const entity = entityOf(reading.root);
  return typeof entity === 'string' ? { kind: 'refused', problem: entity } : readEntity(entity, now);
}

function entityOf(root: XmlElement): XmlElement | string {
  const all = elementsIn(root).filter((element) => isNamed(element, md('EntityDescriptor')));
  const providers = all.filter((element) => childrenNamed(element, md('IDPSSODescriptor')).length > 0);
  const [entity, another] = providers;
  if (entity && !another) return entity;
  if (all.length === 0) return 'this is not SAML metadata: there is no EntityDescriptor';
  if (!entity)
    return 'this is not the metadata of an identity provider: there is no IDPSSODescriptor (perhaps it is for a service provider)';
  const names = providers.map((element) => said(uriOf(element, 'entityID'))).join(', ');
  return `the metadata are of several providers: ${names}; remove the others`;
}

function readEntity(entity: XmlElement, now: Date): MetadataReading {
  const no = (problem: string): MetadataReading => ({ kind: 'refused', problem });
  const [role, another] = childrenNamed(entity, md('IDPSSODescriptor')).filter(speaksSaml2);
  if (!role || another) return no('the metadata do not have one IDPSSODescriptor for SAML 2.0');
  const entityId = uriOf(entity, 'entityID') ?? '';
  if (entityId === '' || entityId.length > 1024) return no('the metadata have no entityID');
  const { service, binding } = serviceOf(role, 'SingleSignOnService');
  const signOnUrl = service && uriOf(service, 'Location');
  if (!signOnUrl) return no('the metadata have no SingleSignOnService for HTTP-Redirect or HTTP-POST');
  if (!isProviderAddress(signOnUrl)) return no(`the provider's sign-on address is not https: ${said(signOnUrl)}`);
  const { certificates, warnings } = certificatesOf(role, now);
  if (certificates.length === 0)
    return no(warnings[0] ?? 'the metadata have no signing certificate (X509Certificate in a KeyDescriptor)');
  const logout = logoutServiceOf(role);
  if (typeof logout === 'string') warnings.push(logout);
  return {
    kind: 'ok',
    settings: {
      entityId,
      signOnUrl,
      signOnBinding: binding === 'post' ? binding : undefined,
      logout: typeof logout === 'object' ? logout : undefined,
      certificates,
    },
    warnings,
  };
}

/** The provider's single logout by the browser; undefined if it has none, or why it is left out. */
function logoutServiceOf(role: XmlElement): SamlLogoutService | string | undefined {
  const { service, binding } = serviceOf(role, 'SingleLogoutService');
  const url = service && uriOf(service, 'Location');
  if (!service || !url) return undefined;
  const responseUrl = uriOf(service, 'ResponseLocation') ?? url;
  const wrong = [url, responseUrl].find((address) => !isProviderAddress(address));
  if (wrong !== undefined) return `single logout is ignored: its address is not https: ${said(wrong)}`;
  return { url, responseUrl, binding };
}

/** The provider's service for one of the bindings that we support, by redirect if it can. */
function serviceOf(role: XmlElement, name: 'SingleSignOnService' | 'SingleLogoutService') {
  const services = childrenNamed(role, md(name));
  const by = (binding: string) => services.find((service) => attributeOf(service, 'Binding') === binding);
  const redirect = by(bindings.redirect);
  return { service: redirect ?? by(bindings.post), binding: redirect ? ('redirect' as const) : ('post' as const) };
}

function speaksSaml2(role: XmlElement): boolean {
  return (attributeOf(role, 'protocolSupportEnumeration') ?? '').split(/\s+/).includes(namespaces.protocol);
}

function uriOf(element: XmlElement, name: string): string | null {
  const value = attributeOf(element, name);
  return value === null ? null : trimmed(value);
}

/** Base64 of a certificate, wherever it is between other text: it begins with the length of its DER. */
const base64 = /MII[A-Za-z\d+/\s]*={0,2}/g;

/**
 * The usable certificates of keys for signing or without a stated use (SAML metadata §2.4.1.1). A bad one does not end the
 * rollover to a good one: it is named in a warning.
 */
function certificatesOf(role: XmlElement, now: Date): { certificates: string[]; warnings: string[] } {
  const keys = childrenNamed(role, md('KeyDescriptor'));
  const elements = keys
    .filter((key) => (attributeOf(key, 'use') ?? 'signing') === 'signing')
    .flatMap((key) => descendantsNamed(key, ds('X509Certificate')));
  const certificates = new Set<string>();
  const warnings: string[] = [];
  for (const [index, { textContent: text }] of elements.entries()) {
    const [first = '', ...more] = text.match(base64) ?? [];
    const pem = `-----BEGIN CERTIFICATE-----\n${first.replace(/\s/g, '').replace(/.{64}(?=.)/g, '$&\n')}\n-----END CERTIFICATE-----\n`;
    const { ok, words } = certificateState(pem, now);
    const its = `signing certificate ${index + 1}`;
    if (!ok) warnings.push(`${its}: ${words} (${said(trimmed(text).slice(0, 24))})`);
    if (more.length > 0) warnings.push(`${its}: its element holds ${more.length + 1}, of which the first is used`);
    if (certificateFacts(pem)?.isUsable) certificates.add(pem);
  }
  return { certificates: [...certificates], warnings };
}

/** Differences between what a provider publishes now and a connection, or why that cannot be read. */
export async function publishedDifferences(
  settings: SamlSettings,
  read: Conversation['read'],
  now: Date,
): Promise<{ kind: 'ok'; differences: string[] } | { kind: 'refused'; problem: string }> {
  try {
    const answer = await read(settings.metadataUrl ?? '');
    const reading = readSamlMetadata(await answer.text(), now);
    return reading.kind === 'ok' ? { kind: 'ok', differences: differencesOf(settings, reading.settings) } : reading;
  } catch (error) {
    if (!(error instanceof ProviderFailure)) throw error;
    return { kind: 'refused', problem: error.message };
  }
}

function differencesOf(here: SamlSettings, there: SamlMetadata): string[] {
  const words = ({ entityId, signOnUrl, signOnBinding, logout }: SamlMetadata) => [
    `entity id: ${said(entityId)}`,
    `signOnUrl: ${said(signOnUrl)}`,
    `requests by ${signOnBinding ?? 'redirect'}`,
    `single logout: ${logoutWords(logout)}`,
  ];
  const prints = ({ certificates }: SamlMetadata) =>
    certificates.map((pem) => certificateFacts(pem)?.fingerprint ?? pem);
  const [ours, theirs] = [prints(here), prints(there)];
  const wordsThere = words(there);
  return [
    ...words(here).flatMap((our, at) => (our === wordsThere[at] ? [] : [`${our} here, ${wordsThere[at]} there`])),
    ...theirs.filter((one) => !ours.includes(one)).map((one) => `certificates: ${one} is there and not here`),
    ...ours.filter((one) => !theirs.includes(one)).map((one) => `certificates: ${one} is here and not there`),
  ];
}

/** Where and how single logout goes, in words for an operator. */
export function logoutWords(service: SamlLogoutService | undefined): string {
  if (!service) return 'nothing';
  const { url, responseUrl, binding } = service;
  return `${said(url)}${responseUrl === url ? '' : `, answers to ${said(responseUrl)},`} by ${binding}`;
}

/** Expiring certificates and secrets cause warnings from this long before. */
export const expiryWarning = 60 * day;

const curves = ['prime256v1', 'secp384r1', 'secp521r1'];

/** What an operator has to know about a certificate in PEM; null if it is invalid. */
export function certificateFacts(pem: string) {
  try {
    const certificate = new X509Certificate(pem);
    const { asymmetricKeyType: type, asymmetricKeyDetails: details } = certificate.publicKey;
    return {
      beginsAt: certificate.validFromDate,
      endsAt: certificate.validToDate,
      // Its key can verify answers.
      isUsable: type === 'rsa' || (type === 'ec' && curves.includes(details?.namedCurve ?? '')),
      rsaBits: type === 'rsa' ? (details?.modulusLength ?? 0) : null,
      fingerprint: certificate.fingerprint256,
    };
  } catch {
    return null;
  }
}

/** Whether something that a certificate signs now counts, and what an operator has to know about it. */
export function certificateState(pem: string, now: Date): { counts: boolean; ok: boolean; words: string } {
  const no = (words: string) => ({ counts: false, ok: false, words });
  const facts = certificateFacts(pem);
  if (!facts) return no('it cannot be read');
  const [begin, end] = [facts.beginsAt, facts.endsAt].map((date) => date.toISOString().slice(0, 10));
  if (!facts.isUsable) return no('its key is neither RSA nor ECDSA');
  if (facts.endsAt <= now) return no(`it ended on ${end}`);
  if (facts.beginsAt.getTime() - limits.providerClock > now.getTime()) return no(`it begins on ${begin}`);
  if (facts.rsaBits !== null && facts.rsaBits < limits.weakestRsaKey)
    return { counts: true, ok: false, words: `its key is weak: RSA of ${facts.rsaBits} bits` };
  const endsSoon = facts.endsAt.getTime() - now.getTime() < expiryWarning;
  return { counts: true, ok: !endsSoon, words: `it is valid until ${end}` };
}

/** The provider's certificates that count now: only configured ones, never any from a message. */
export function validCertificates({ certificates }: SamlSettings, now: Date): string[] {
  return certificates.filter((pem) => certificateState(pem, now).counts);
}
