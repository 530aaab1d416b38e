import type { Connection } from '../../storage/database.ts';
import { listSsoConnections, type SamlConnection } from '../../storage/sso-connection.ts';
import type { ProtocolSettings } from '../../storage/sso-settings.ts';
import { type Refusal, refusalFor } from '../identity.ts';
import { issuerOfSamlResponse } from './issuer.ts';
import type { XmlReading } from './strict-xml.ts';

/**
 * The connection whose provider may begin and claims it did. The name is not verified yet: it only chooses whose
 * certificates must verify the answer.
 */
export async function connectionThatMayBegin(
  sql: Connection,
  response: XmlReading,
): Promise<{ kind: 'ok'; connection: SamlConnection } | Refusal> {
  const issuer = response.kind === 'ok' ? issuerOfSamlResponse(response.root) : null;
  if (issuer === null) return refusalFor('answer-invalid', 'it is not a SAML response with an issuer');
  const connections = (await listSsoConnections(sql)).filter(
    (connection): connection is SamlConnection =>
      connection.protocol === 'saml' && connection.active && connection.settings.entityId === issuer,
  );
  const allowed = connections.filter(({ settings }) => settings.mayBegin);
  if (allowed.length === 1) return { kind: 'ok', connection: allowed[0] as SamlConnection };
  const words =
    connections.length === 0
      ? 'no connection has this issuer'
      : 'vestibule connection set --idp-initiated on allows it';
  return {
    kind: 'refused',
    reason: 'provider-began',
    words: allowed.length > 1 ? 'several connections have this issuer' : words,
  };
}

/** The key of another connection that lets the same provider begin, or null. */
export async function otherThatMayBegin(
  sql: Connection,
  key: string,
  { protocol, settings }: ProtocolSettings,
): Promise<string | null> {
  if (protocol !== 'saml' || !settings.mayBegin) return null;
  const other = (await listSsoConnections(sql)).find(
    (connection) =>
      connection.key !== key &&
      connection.protocol === 'saml' &&
      connection.settings.mayBegin &&
      connection.settings.entityId === settings.entityId,
  );
  return other?.key ?? null;
}
