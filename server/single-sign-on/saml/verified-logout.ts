import type { Config } from '../../config/config.ts';
import type { Deps } from '../../deps.ts';
import { publicAddress } from '../addresses.ts';
import type { ProviderLogout } from '../provider-logout.ts';
import { said } from '../provider-words.ts';
import { listSsoConnections, type SamlConnection } from '../sso-connection.ts';
import type { SamlSettings } from '../sso-settings.ts';
import { validCertificates } from './certificates.ts';
import { ageProblem, endProblem, issuerProblem, messageProblem, samlTime } from './checks.ts';
import { openedName } from './identity.ts';
import { saml, samlp } from './names.ts';
import type { LogoutMessage } from './read-logout-message.ts';
import { attributeOf, childrenNamed, elementsIn, textOf, type XmlElement, type XmlName } from './xml.ts';

/** A refused message; `connection` is the key of the one that it claims to come from. */
export type RefusedLogout = { kind: 'refused'; problem: string; connection?: string };

/** A message, and the connections whose provider signed it: several may share a provider. */
export type VerifiedLogout = { kind: 'ok'; root: XmlElement; connections: [SamlConnection, ...SamlConnection[]] };

/** Verifies who signed a LogoutRequest or LogoutResponse, and that it is one and for us. */
export async function verifiedLogout(
  { config, sql, now }: Deps,
  { field, root: claimed, verified }: LogoutMessage,
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
  const kind = field === 'SAMLRequest' ? 'LogoutRequest' : 'LogoutResponse';
  const problem = logoutProblem(root, kind, { config, settings: first.connection.settings });
  if (problem) return { kind: 'refused', problem, connection: first.connection.key };
  return { kind: 'ok', root, connections: [first.connection, ...others.map((one) => one.connection)] };
}

/** Of these, a message has exactly one. */
const oneOf: Record<'LogoutRequest' | 'LogoutResponse', XmlName[]> = {
  LogoutRequest: [saml('NameID'), saml('EncryptedID')],
  LogoutResponse: [samlp('Status')],
};

/** What is wrong with a message, whatever its age (SAML bindings §3.4.5.2 and §3.5.5.2: a signed one has a Destination). */
function logoutProblem(
  root: XmlElement,
  kind: keyof typeof oneOf,
  { config, settings }: { config: Config; settings: SamlSettings },
): string | null {
  const problem =
    messageProblem(root, kind, publicAddress(config, 'samlLogout')) ?? issuerProblem(root, settings, 'the message');
  if (problem) return problem;
  const [one, another] = oneOf[kind].flatMap((name) => childrenNamed(root, name));
  return one && !another ? null : `it does not have one ${oneOf[kind].map(([, name]) => name).join(' or ')}`;
}

/** Why it is outside its validity, or null: by our own limit, and by the message's if it has one (SAML core §3.7.1). */
function timeProblem(root: XmlElement, now: Date): string | null {
  const hasEnd = attributeOf(root, 'NotOnOrAfter') !== null;
  return ageProblem(root, 'it', now) ?? (hasEnd ? endProblem(root, 'NotOnOrAfter', 'it', now) : null);
}

/** What a verified LogoutRequest asks for, if it is still valid. */
export async function readLogoutRequest(
  deps: Deps,
  root: XmlElement,
): Promise<({ kind: 'ok' } & ProviderLogout) | RefusedLogout> {
  const late = timeProblem(root, deps.now());
  if (late) return { kind: 'refused', problem: late };
  const names = oneOf.LogoutRequest.flatMap((one) => childrenNamed(root, one));
  const name = await openedName(deps, names);
  if (name.kind === 'refused') return { kind: 'refused', problem: name.words };
  const subject = textOf(name.name);
  const sessions = childrenNamed(root, samlp('SessionIndex')).map(textOf);
  const readable = sessions.filter((session) => session !== null);
  if (subject === null || readable.length < sessions.length)
    return { kind: 'refused', problem: 'its names cannot be read' };
  const issuedAt = new Date(samlTime(attributeOf(root, 'IssueInstant')) ?? 0);
  return { kind: 'ok', subject, sessions: readable, issuedAt };
}

/**
 * What a verified LogoutResponse does not confirm, in words for an operator; null if everything has ended (SAML core
 * §3.7.3.2).
 */
export function logoutIncomplete(root: XmlElement, now: Date): string | null {
  const late = timeProblem(root, now);
  if (late) return late;
  const codes = childrenNamed(root, samlp('Status'), samlp('StatusCode'));
  const values = codes.flatMap(elementsIn).map((element) => attributeOf(element, 'Value'));
  // Inside Success it may still say PartialLogout: some other application went on.
  const isWhole = values.length === 1 && values[0] === 'urn:oasis:names:tc:SAML:2.0:status:Success';
  return isWhole ? null : `the provider says ${values.map(said).join(', ') || 'nothing'}`;
}
