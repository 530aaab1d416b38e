import { inflateRawSync } from 'node:zlib';
import type { SamlLogoutForm } from '#contract/payloads.ts';
import type { Config } from '../../config/config.ts';
import type { Deps } from '../../deps.ts';
import { limits } from '../../limits.ts';
import { publicAddress } from '../addresses.ts';
import { said } from '../provider-answer.ts';
import type { ProviderLogout } from '../provider-sessions.ts';
import { listSsoConnections, type SamlConnection, type SamlSettings } from '../sso-connection.ts';
import { ageProblem, endProblem, issuerProblem, messageProblem, samlTime } from './checks.ts';
import { validCertificates } from './provider-metadata.ts';
import { isSignedBy, verify } from './verify.ts';
import {
  attributeOf,
  childrenNamed,
  elementsIn,
  readXml,
  saml,
  samlp,
  samlText,
  textOf,
  utf8,
  type XmlElement,
} from './xml.ts';

/** A refused message; `connection` is the key of the one that it claims to come from. */
export type RefusedLogout = { kind: 'refused'; problem: string; connection?: string };

/** A message, and the connections whose provider signed it: several may share a provider. */
export type VerifiedLogout = { kind: 'ok'; root: XmlElement; connections: [SamlConnection, ...SamlConnection[]] };

/** Verifies who signed a LogoutRequest, and that it is one and for us. */
export async function verifiedLogout(
  { config, sql, now }: Deps,
  { root: claimed, verified }: LogoutMessage,
): Promise<VerifiedLogout | RefusedLogout> {
  const [element] = childrenNamed(claimed, saml('Issuer'));
  const issuer = element ? textOf(element) : null;
  const known = (await listSsoConnections(sql)).filter(
    (one): one is SamlConnection => one.protocol === 'saml' && one.settings.entityId === issuer,
  );
  const [connection] = known;
  if (!connection) return { kind: 'refused', problem: `no connection has the issuer ${said(issuer)}` };
  const signed = known.flatMap((one) => {
    const root = verified(validCertificates(one.settings, now()));
    return root ? [{ connection: one, root }] : [];
  });
  const [first, ...others] = signed;
  if (!first) return { kind: 'refused', problem: 'its signature is invalid', connection: connection.key };
  const { root } = first;
  const problem = logoutProblem(root, config, first.connection.settings);
  if (problem) return { kind: 'refused', problem, connection: first.connection.key };
  return { kind: 'ok', root, connections: [first.connection, ...others.map((one) => one.connection)] };
}

/** What is wrong with a request, whatever its age (SAML bindings §3.4.5.2 and §3.5.5.2: a signed one has a Destination). */
function logoutProblem(root: XmlElement, config: Config, settings: SamlSettings): string | null {
  const problem =
    messageProblem(root, 'LogoutRequest', publicAddress(config, 'samlLogout')) ??
    issuerProblem(root, settings, 'the message');
  if (problem) return problem;
  return childrenNamed(root, saml('NameID')).length === 1 ? null : 'it does not have one NameID';
}

/** What a verified LogoutRequest asks for, if it is still valid. */
export function readLogoutRequest(root: XmlElement, now: Date): ({ kind: 'ok' } & ProviderLogout) | RefusedLogout {
  // By our own limit, and by the message's if it has one (SAML core §3.7.1).
  const hasEnd = attributeOf(root, 'NotOnOrAfter') !== null;
  const late = ageProblem(root, 'it', now) ?? (hasEnd ? endProblem(root, 'NotOnOrAfter', 'it', now) : null);
  if (late) return { kind: 'refused', problem: late };
  const [subject = null] = childrenNamed(root, saml('NameID')).map(textOf);
  const sessions = childrenNamed(root, samlp('SessionIndex')).map(textOf);
  const readable = sessions.filter((session) => session !== null);
  if (subject === null || readable.length < sessions.length)
    return { kind: 'refused', problem: 'its names cannot be read' };
  const issuedAt = new Date(samlTime(attributeOf(root, 'IssueInstant')) ?? 0);
  return { kind: 'ok', subject, sessions: readable, issuedAt };
}

/**
 * Whether a LogoutResponse says that everything has ended (SAML core §3.7.3.2). It need not be verified: it ends nothing, and
 * only decides what the next page says.
 */
export function saysAllEnded(root: XmlElement): boolean {
  const codes = childrenNamed(root, samlp('Status'), samlp('StatusCode'));
  const values = codes.flatMap(elementsIn).map((element) => attributeOf(element, 'Value'));
  // Inside Success it may still say PartialLogout: some other application went on.
  return values.length === 1 && values[0] === 'urn:oasis:names:tc:SAML:2.0:status:Success';
}

const fields = ['SAMLRequest', 'SAMLResponse'] as const;
type Field = (typeof fields)[number];

/** A message that a browser brought; nothing in it counts before `verified`. */
type LogoutMessage = {
  kind: 'ok';
  field: Field;
  root: XmlElement;
  relayState: string | null;
  /** The signed part, if the signature is valid by one of these certificates; otherwise null. */
  verified: (certificates: readonly string[]) => XmlElement | null;
};

type Reading = LogoutMessage | { kind: 'refused'; field: Field | null; problem: string };

/** Reads the fields of a form (SAML bindings §3.5.4): the message contains its signature. */
export function readPostedMessage(form: SamlLogoutForm): Reading {
  const field = theField((name) => form[name] !== undefined);
  const text = samlText((field && form[field]) ?? '');
  if (!field || text === null) return no(field, field && 'it is not base64 of UTF-8');
  return readMessage(field, text, form.RelayState ?? null, (root, certificates) => {
    const again = verify(text, root, certificates);
    return again.kind === 'ok' ? again.root : null;
  });
}

/**
 * Reads a query string as received (SAML bindings §3.4.4.1): the signature covers the exact characters of its parts, in
 * the standard's order. A part that occurs twice, or under a name spelled differently, could be signed once and read
 * the other time.
 */
export function readRedirectedMessage(query: string): Reading {
  const values = new URLSearchParams(query);
  const parts = query.split('&');
  const written = (name: string) => parts.filter((part) => part.startsWith(`${name}=`));
  const field = theField((name) => values.has(name));
  const unclear = [...fields, 'RelayState', 'SigAlg', 'Signature'].find(
    (name) => values.getAll(name).length > 1 || written(name).length !== values.getAll(name).length,
  );
  if (unclear) return no(field, `${unclear} is there twice, or its name is not written plainly`);
  const [algorithm, signature] = [values.get('SigAlg'), values.get('Signature')];
  if (!field || algorithm === null || signature === null) return no(field, field && 'it is not signed');
  const text = inflated(values.get(field) ?? '');
  if (text === null) return no(field, 'it cannot be decompressed');
  const signed = { algorithm, text: [field, 'RelayState', 'SigAlg'].flatMap(written).join('&'), signature };
  return readMessage(field, text, values.get('RelayState'), (root, certificates) =>
    isSignedBy(certificates, signed) ? root : null,
  );
}

function readMessage(
  field: Field,
  text: string,
  relayState: string | null,
  verified: (root: XmlElement, certificates: readonly string[]) => XmlElement | null,
): Reading {
  if ((relayState ?? '').length > limits.samlRelayState) return no(field, 'its RelayState is too long');
  const reading = readXml(text, { signs: limits.samlLogoutSigns });
  if (reading.kind === 'refused') return no(field, reading.problem);
  const { root } = reading;
  return { kind: 'ok', field, root, relayState, verified: (certificates) => verified(root, certificates) };
}

function theField(has: (name: Field) => boolean): Field | null {
  const [field = null, another] = fields.filter(has);
  return another ? null : field;
}

/** A few characters can unpack to gigabytes. */
function inflated(base64: string): string | null {
  try {
    return utf8(inflateRawSync(Buffer.from(base64, 'base64'), { maxOutputLength: limits.samlLogoutBytes }));
  } catch {
    return null;
  }
}

function no(field: Field | null, problem: string | null): Reading {
  return { kind: 'refused', field, problem: problem ?? 'it is neither a single request nor a single answer' };
}
