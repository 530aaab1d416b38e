import type { Config } from '../../config/config.ts';
import { limits } from '../../limits.ts';
import { entityId } from '../addresses.ts';
import type { SamlName } from '../identity.ts';
import { escapedXml } from './escaped-xml.ts';
import { namespaces } from './names.ts';

type Common = { config: Config; id: string; destination: string; now: Date };

const status = 'urn:oasis:names:tc:SAML:2.0:status:';

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
