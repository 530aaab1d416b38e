import type { Connection } from '../../storage/database.ts';
import { listSsoConnections, type SamlConnection } from '../../storage/sso-connection.ts';
import type { ProtocolSettings } from '../../storage/sso-settings.ts';
import { type Refusal, refusalFor } from '../identity.ts';

/** The one active connection with this issuer whose provider may begin. */
export async function connectionThatMayBegin(
  sql: Connection,
  issuer: string,
): Promise<{ kind: 'ok'; connection: SamlConnection } | Refusal> {
  const known = (await listSsoConnections(sql)).filter(
    (connection): connection is SamlConnection =>
      connection.protocol === 'saml' && connection.active && connection.settings.entityId === issuer,
  );
  const [connection, another] = known.filter(({ settings }) => settings.mayBegin);
  if (connection && !another) return { kind: 'ok', connection };
  if (connection) return refusalFor('provider-began', 'several connections have this issuer');
  if (known.length === 0) return refusalFor('provider-began', 'no connection has this issuer');
  return refusalFor('provider-began', 'vestibule connection set --idp-initiated on allows it');
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
