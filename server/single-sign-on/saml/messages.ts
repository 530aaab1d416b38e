import { randomBytes, sign } from 'node:crypto';
import { deflateRawSync } from 'node:zlib';
import type { RouteHandlerMethod } from 'fastify';
import type { Config } from '../../config/config.ts';
import type { Deps } from '../../deps.ts';
import { limits } from '../../limits.ts';
import { entityId, publicAddress } from '../addresses.ts';
import { type PortalKey, portalKeys } from '../portal-keys.ts';
import type { SamlName } from '../provider-answer.ts';
import { xmlSignature } from './verify.ts';
import { algorithms, bindings, namespaces } from './xml.ts';

type Common = { config: Config; id: string; destination: string; now: Date };

const status = 'urn:oasis:names:tc:SAML:2.0:status:';

/** A new ID for a message: SAML core §1.3.4 requires at least 128 random bits, and no leading digit. */
export function newMessageId(): string {
  return `_${randomBytes(20).toString('hex')}`;
}

/**
 * Asks a provider who somebody is (SAML core §3.4.1); unsigned. How the person is named and authenticated is up to it;
 * `freshSignIn` makes it authenticate a person again who is signed in there.
 */
export function authnRequestXml({ freshSignIn, ...common }: Common & { freshSignIn: boolean }): string {
  const more = {
    ProtocolBinding: bindings.post,
    AssertionConsumerServiceURL: publicAddress(common.config, 'samlAnswer'),
    ...(freshSignIn && { ForceAuthn: 'true' }),
  };
  return message('samlp:AuthnRequest', common, more, '<samlp:NameIDPolicy AllowCreate="true"/>');
}

/** Asks a provider to end its session for a person (SAML core §3.7.1); unsigned. */
export function logoutRequestXml({ name: who, ...common }: Common & { name: SamlName }): string {
  const name = element('saml:NameID', who.name, {
    Format: who.format,
    NameQualifier: who.nameQualifier,
    SPNameQualifier: who.spNameQualifier,
  });
  const session = who.sessionIndex === null ? '' : element('samlp:SessionIndex', who.sessionIndex);
  const end = new Date(common.now.getTime() + limits.samlAssertionAge).toISOString();
  return message('samlp:LogoutRequest', common, { NotOnOrAfter: end }, name + session);
}

/** Tells a provider that its request is done, or was not understood (SAML core §3.7.2); unsigned. */
export function logoutResponseXml({
  inResponseTo,
  isDone,
  ...common
}: Common & { inResponseTo: string; isDone: boolean }): string {
  const code = `<samlp:StatusCode Value="${status}${isDone ? 'Success' : 'Requester'}"/>`;
  const answers = { InResponseTo: inResponseTo };
  return message('samlp:LogoutResponse', common, answers, `<samlp:Status>${code}</samlp:Status>`);
}

function message(
  tag: string,
  { config, id, destination, now }: Common,
  more: Record<string, string>,
  inside: string,
): string {
  const attributes = {
    'xmlns:samlp': namespaces.protocol,
    'xmlns:saml': namespaces.assertion,
    ID: id,
    Version: '2.0',
    IssueInstant: now.toISOString(),
    Destination: destination,
    ...more,
  };
  return `<${tag}${written(attributes)}>${element('saml:Issuer', entityId(config))}${inside}</${tag}>`;
}

function element(tag: string, text: string, attributes: Record<string, string | null> = {}): string {
  return `<${tag}${written(attributes)}>${escapedXml(text)}</${tag}>`;
}

function written(attributes: Record<string, string | null>): string {
  return Object.entries(attributes)
    .map(([name, value]) => (value === null ? '' : ` ${name}="${escapedXml(value)}"`))
    .join('');
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Text escaped for XML, between tags or in double quotes; white space is preserved (XML §3.3.3). */
export function escapedXml(text: string): string {
  return text.replace(/[&<>"\t\n\r]/g, (character) => entities[character] ?? `&#${character.charCodeAt(0)};`);
}

/** How a message is sent by the browser: an address that contains it, or one to post form fields to. */
export type Carried = { url: string; fields: Record<string, string> | null };

type Message = {
  field: 'SAMLRequest' | 'SAMLResponse';
  xml: string;
  to: string;
  binding: 'redirect' | 'post';
  relayState: string | null;
};

const rsaSha256 = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256';

/**
 * Signs a message for its binding: the address that contains it, or the message itself (SAML bindings §3.4.4.1,
 * §3.5.4).
 */
export function carryMessage({ field, xml, to, binding, relayState }: Message, key: PortalKey): Carried {
  const state = relayState === null ? {} : { RelayState: relayState };
  if (binding === 'post') {
    const signed = signedXml(xml, key.privateKey);
    return { url: to, fields: { [field]: Buffer.from(signed).toString('base64'), ...state } };
  }
  const packed = deflateRawSync(xml).toString('base64');
  const query = queryOf({ [field]: packed, ...state, SigAlg: rsaSha256 });
  const signature = sign('sha256', Buffer.from(query), key.privateKey).toString('base64');
  return { url: `${to}${to.includes('?') ? '&' : '?'}${query}&${queryOf({ Signature: signature })}`, fields: null };
}

/** A message with its signature behind the issuer (SAML core §5.4). */
function signedXml(xml: string, privateKey: string): string {
  const canonicalizationAlgorithm = algorithms.exclusive;
  const signing = xmlSignature({ privateKey, signatureAlgorithm: rsaSha256, canonicalizationAlgorithm });
  const transforms = [algorithms.enveloped, algorithms.exclusive];
  signing.addReference({ xpath: '/*', transforms, digestAlgorithm: algorithms.sha256 });
  signing.computeSignature(xml, { location: { reference: "/*/*[local-name(.)='Issuer']", action: 'after' } });
  return signing.getSignedXml();
}

/** In the order and the exact characters that are signed. */
function queryOf(parameters: Record<string, string>): string {
  return Object.entries(parameters)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&');
}

/** `GET authenticate/saml/metadata`: read repeatedly by providers, so that they learn of a key before it signs. */
export function samlMetadataRoute(deps: Deps): RouteHandlerMethod {
  return async function samlMetadataAnswer(_request, reply) {
    return reply.type('application/samlmetadata+xml').send(samlMetadata(deps.config, await portalKeys(deps)));
  };
}

/**
 * What providers need to know of the portal (SAML metadata §2.4.4): where answers and sign-outs go, that it signs what
 * it sends, that assertions must be signed, and its keys. The current key is first, for providers that read only one.
 */
export function samlMetadata(config: Config, keys: readonly PortalKey[]): string {
  const key =
    (use: string, inside = '') =>
    ({ certificate }: PortalKey) =>
      `    <KeyDescriptor use="${use}">
      <ds:KeyInfo><ds:X509Data><ds:X509Certificate>${certificate.replace(/-----[A-Z ]+-----|\s/g, '')}</ds:X509Certificate></ds:X509Data></ds:KeyInfo>${inside}
    </KeyDescriptor>
`;
  const methods = [...algorithms.gcm, algorithms.rsaOaep].map(
    (name) => `\n      <EncryptionMethod Algorithm="${name}"/>`,
  );
  const logoutServices = [bindings.redirect, bindings.post]
    .map(
      (binding) =>
        `    <SingleLogoutService Binding="${binding}" Location="${escapedXml(publicAddress(config, 'samlLogout'))}"/>\n`,
    )
    .join('');
  return `<?xml version="1.0" encoding="UTF-8"?>
<EntityDescriptor xmlns="${namespaces.metadata}" xmlns:ds="${namespaces.signature}" entityID="${escapedXml(entityId(config))}">
  <SPSSODescriptor AuthnRequestsSigned="true" WantAssertionsSigned="true" protocolSupportEnumeration="${namespaces.protocol}">
${keys.map(key('signing')).join('')}${keys.map(key('encryption', methods.join(''))).join('')}${logoutServices}    <AssertionConsumerService index="0" isDefault="true" Binding="${bindings.post}" Location="${escapedXml(publicAddress(config, 'samlAnswer'))}"/>
  </SPSSODescriptor>
</EntityDescriptor>
`;
}
