import { limits } from '../../limits.ts';
import type { SamlLogoutService, SamlSettings } from '../../storage/sso-settings.ts';
import { isProviderAddress } from '../provider-fetch.ts';
import { said } from '../provider-words.ts';
import { expiryWarning } from '../what-ends.ts';
import { certificateFacts } from './certificates.ts';
import { bindings, ds, md, namespaces } from './names.ts';
import {
  attributeOf,
  childrenNamed,
  descendantsNamed,
  elementsIn,
  isNamed,
  readXml,
  textOf,
  type XmlElement,
} from './xml.ts';

/** What a provider's metadata say of it. */
export type SamlMetadata = Pick<SamlSettings, 'entityId' | 'signOnUrl' | 'signOnBinding' | 'logout' | 'certificates'>;

export type MetadataReading =
  | { kind: 'ok'; settings: SamlMetadata; warnings: string[] }
  /** In words that say what is missing. */
  | { kind: 'refused'; problem: string };

/**
 * Reads a provider's metadata, from a file or an address (SAML metadata §2). They say whom to trust, so their source
 * must be trusted itself: a signature on them is ignored. `entityId` chooses among several.
 */
export function readSamlMetadata(text: string, { entityId, now }: { entityId?: string; now: Date }): MetadataReading {
  if (text.length > limits.providerBytes) return { kind: 'refused', problem: 'the metadata are too long' };
  const reading = readXml(text.replace(/^\uFEFF/, ''), { comments: true, signs: limits.samlMetadataSigns });
  if (reading.kind === 'refused')
    return { kind: 'refused', problem: `the metadata cannot be read: ${reading.problem}` };
  const entity = entityOf(reading.root, entityId);
  return typeof entity === 'string' ? { kind: 'refused', problem: entity } : readEntity(entity, now);
}

/** The entity that is meant, or why there is none. */
function entityOf(root: XmlElement, entityId: string | undefined): XmlElement | string {
  const all = elementsIn(root).filter((element) => isNamed(element, md('EntityDescriptor')));
  const providers = all.filter((element) => childrenNamed(element, md('IDPSSODescriptor')).length > 0);
  const meant = providers.filter((element) => entityId === undefined || attributeOf(element, 'entityID') === entityId);
  const [entity, another] = meant;
  if (entity && !another) return entity;
  if (all.length === 0) return 'this is not SAML metadata: there is no EntityDescriptor';
  if (providers.length === 0)
    return 'this is not the metadata of an identity provider: there is no IDPSSODescriptor (perhaps it is for a service provider)';
  const names = providers.map((element) => said(attributeOf(element, 'entityID'))).join(', ');
  return entity
    ? `the metadata are of several providers, name one of them: ${names}`
    : `the metadata are not of ${said(entityId)} but of ${names}`;
}

function readEntity(entity: XmlElement, now: Date): MetadataReading {
  const no = (problem: string): MetadataReading => ({ kind: 'refused', problem });
  const [role, another] = childrenNamed(entity, md('IDPSSODescriptor')).filter(speaksSaml2);
  if (!role || another) return no('the metadata do not have one IDPSSODescriptor for SAML 2.0');
  const entityId = attributeOf(entity, 'entityID') ?? '';
  if (entityId === '' || entityId.length > 1024) return no('the metadata have no entityID');
  const { service, binding } = serviceOf(role, 'SingleSignOnService');
  const signOnUrl = service && attributeOf(service, 'Location');
  if (!signOnUrl) return no('the metadata have no SingleSignOnService for HTTP-Redirect or HTTP-POST');
  if (!isProviderAddress(signOnUrl)) return no(`the provider's sign-on address is not https: ${said(signOnUrl)}`);
  const found = certificatesOf(role);
  if (found === null) return no('the metadata hold a signing certificate that cannot be read');
  const usable = found.filter((pem) => certificateFacts(pem)?.isUsable);
  if (found.length === 0 && hasBareKey(role))
    return no(
      'the metadata have a bare key (KeyValue) and no certificate: ask the provider to add the certificate of its signing key (X509Certificate), or add it by hand',
    );
  if (found.length === 0) return no('the metadata have no signing certificate (KeyDescriptor)');
  if (usable.length === 0)
    return no('the metadata have no signing certificate with an RSA or ECDSA key, the supported kinds');
  const warnings = usable.flatMap((pem) => certificateWarnings(pem, now));
  if (usable.length < found.length)
    warnings.push('signing certificates with keys other than RSA and ECDSA are ignored');
  const logout = logoutServiceOf(role);
  if (typeof logout === 'string') warnings.push(logout);
  const validUntil = Date.parse(attributeOf(entity, 'validUntil') ?? '');
  if (validUntil <= now.getTime()) warnings.push('the metadata have expired (validUntil)');
  return {
    kind: 'ok',
    settings: {
      entityId,
      signOnUrl,
      signOnBinding: binding === 'post' ? binding : undefined,
      logout: typeof logout === 'object' ? logout : undefined,
      certificates: usable,
    },
    warnings,
  };
}

/** The provider's single logout by the browser; undefined if it has none, or why it is left out. */
function logoutServiceOf(role: XmlElement): SamlLogoutService | string | undefined {
  const { service, binding } = serviceOf(role, 'SingleLogoutService');
  const url = service && attributeOf(service, 'Location');
  if (!service || !url) return undefined;
  const responseUrl = attributeOf(service, 'ResponseLocation') ?? url;
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

/** Some providers publish only the bare key (XML Signature §4.5.2), without an expiry. */
function hasBareKey(role: XmlElement): boolean {
  return signingKeys(role).some((key) => descendantsNamed(key, ds('KeyValue')).length > 0);
}

function signingKeys(role: XmlElement): XmlElement[] {
  return childrenNamed(role, md('KeyDescriptor')).filter((key) => (attributeOf(key, 'use') ?? 'signing') === 'signing');
}

/** The certificates of keys for signing or without a stated use (SAML metadata §2.4.1.1); null if one is unreadable. */
function certificatesOf(role: XmlElement): string[] | null {
  const texts = signingKeys(role)
    .flatMap((key) => descendantsNamed(key, ds('X509Certificate')))
    .map((element) => (textOf(element) ?? '').replace(/\s/g, ''));
  const pems = texts.map(
    (text) => `-----BEGIN CERTIFICATE-----\n${text.replace(/.{64}(?=.)/g, '$&\n')}\n-----END CERTIFICATE-----\n`,
  );
  return pems.every((pem) => certificateFacts(pem) !== null) ? [...new Set(pems)] : null;
}

function certificateWarnings(pem: string, now: Date): string[] {
  const facts = certificateFacts(pem);
  if (!facts) return [];
  const warnings: string[] = [];
  const end = facts.endsAt.toISOString().slice(0, 10);
  if (facts.endsAt <= now) warnings.push(`a signing certificate expired on ${end}: nothing it signs is accepted`);
  else if (facts.endsAt.getTime() - now.getTime() < expiryWarning)
    warnings.push(`a signing certificate expires on ${end}`);
  if (facts.rsaBits !== null && facts.rsaBits < limits.weakestRsaKey)
    warnings.push(`a signing key is weak: RSA of ${facts.rsaBits} bits`);
  return warnings;
}

/** Differences between a provider's metadata and a connection, in words for an operator. */
export function metadataDifferences(here: SamlSettings, there: SamlMetadata): string[] {
  return [
    ...(there.signOnUrl === here.signOnUrl
      ? []
      : [`signOnUrl: ${said(here.signOnUrl)} here, ${said(there.signOnUrl)} there`]),
    ...(there.signOnBinding === here.signOnBinding
      ? []
      : [
          `requests are sent by ${here.signOnBinding ?? 'redirect'} here, by ${there.signOnBinding ?? 'redirect'} there`,
        ]),
    ...logoutDifferences(here.logout, there.logout),
    ...certificateDifferences(here.certificates, there.certificates),
  ];
}

function logoutDifferences(here: SamlLogoutService | undefined, there: SamlLogoutService | undefined): string[] {
  const [ours, theirs] = [logoutWords(here), logoutWords(there)];
  return ours === theirs ? [] : [`single logout: ${ours} here, ${theirs} there`];
}

/** Where and how single logout goes, in words for an operator. */
export function logoutWords(service: SamlLogoutService | undefined): string {
  if (!service) return 'nothing';
  const { url, responseUrl, binding } = service;
  return `${said(url)}${responseUrl === url ? '' : `, answers to ${said(responseUrl)},`} by ${binding}`;
}

function certificateDifferences(here: string[], there: string[]): string[] {
  const [ours, theirs] = [here, there].map(
    (pems) => new Set(pems.map((pem) => certificateFacts(pem)?.fingerprint ?? pem)),
  );
  const only = (one = new Set<string>(), other = new Set<string>()) => [...one].filter((print) => !other.has(print));
  return [
    ...only(theirs, ours).map((print) => `certificates: ${print} is there and not here`),
    ...only(ours, theirs).map((print) => `certificates: ${print} is here and not there`),
  ];
}
