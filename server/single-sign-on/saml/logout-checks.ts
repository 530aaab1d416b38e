import type { Config } from '../../config/config.ts';
import type { SamlSettings } from '../../storage/sso-settings.ts';
import { publicAddress } from '../addresses.ts';
import { ds, saml, samlp } from './names.ts';
import { issuerRefusal } from './response.ts';
import { said } from './said.ts';
import { idPattern } from './signature.ts';
import { partsProblem } from './structure.ts';
import { ageProblem, endProblem } from './validity.ts';
import { attributeOf, childrenNamed, isNamed, textOf, type XmlElement, type XmlName } from './xml-elements.ts';

type Held = { config: Config; settings: SamlSettings };

/** The names allowed once in each of the two, and those that are required. */
const parts: Record<'LogoutRequest' | 'LogoutResponse', { may: XmlName[]; oneOf: XmlName[] }> = {
  LogoutRequest: {
    may: [saml('Issuer'), ds('Signature'), samlp('Extensions')],
    oneOf: [saml('NameID'), saml('EncryptedID')],
  },
  LogoutResponse: { may: [saml('Issuer'), ds('Signature'), samlp('Extensions')], oneOf: [samlp('Status')] },
};

/** The issuer that a message names, which decides whose signature it needs, or null. */
export function issuerOf(root: XmlElement): string | null {
  const [issuer] = childrenNamed(root, saml('Issuer'));
  return issuer ? textOf(issuer) : null;
}

/**
 * What is wrong with a verified message, whatever its age: its kind, sender and recipient, and its parts (SAML core
 * §3.2, bindings §3.4.5.2 and §3.5.5.2: a signed message has a Destination). Null if it is valid.
 */
export function logoutProblem(root: XmlElement, kind: keyof typeof parts, { config, settings }: Held): string | null {
  if (!isNamed(root, samlp(kind))) return `it is not a ${kind} but ${said(root.nodeName)}`;
  if (attributeOf(root, 'Version') !== '2.0') return 'it is not of SAML 2.0';
  if (!idPattern.test(attributeOf(root, 'ID') ?? '')) return 'it has no ID';
  const destination = attributeOf(root, 'Destination');
  const here = publicAddress(config, 'samlLogout');
  if (destination !== here) return `its Destination is ${said(destination)}, not ${said(here)}`;
  const [issuer] = childrenNamed(root, saml('Issuer'));
  if (!issuer) return 'it has no issuer';
  const { may, oneOf } = parts[kind];
  const several = kind === 'LogoutRequest' ? [samlp('SessionIndex')] : [];
  const problem =
    issuerRefusal(issuer, settings, 'the message')?.words ?? partsProblem(root, may, [...oneOf, ...several]);
  if (problem) return problem;
  const [one, another] = oneOf.flatMap((name) => childrenNamed(root, name));
  return one && !another ? null : `it does not have one ${oneOf.map(([, name]) => name).join(' or ')}`;
}

/** Why it is outside its validity, or null: by our own limit, and by the message's if it has one (SAML core §3.7.1). */
export function logoutTimeProblem(root: XmlElement, now: Date): string | null {
  const hasEnd = attributeOf(root, 'NotOnOrAfter') !== null;
  return ageProblem(root, 'it', now) ?? (hasEnd ? endProblem(root, 'NotOnOrAfter', 'it', now) : null);
}
