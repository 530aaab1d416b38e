import { randomUUID } from 'node:crypto';
import { insertAuditEvent } from '../audit/audit-event.ts';
import type { Keys } from '../crypto/keys.ts';
import { seal } from '../crypto/sealed.ts';
import type { Database } from '../database/database.ts';
import { findCustomer } from '../people/customer.ts';
import { otherByLogoutAddress, otherThatMayBegin } from './saml/other-connections.ts';
import { connectionPlace, insertSsoConnection, listSsoConnections, type NewSsoConnection } from './sso-connection.ts';
import type { ProtocolSettings } from './sso-settings.ts';

/** A connection with its fields already read; `secret` is in plain text and is sealed here. */
export type ConnectionToAdd = Omit<NewSsoConnection, 'id' | 'customerId' | 'sealedSecret' | 'protocol' | 'settings'> & {
  customerKey: string;
  secret: string | null;
} & ProtocolSettings;

export type AddConnectionResult =
  | { kind: 'added' }
  | { kind: 'taken' }
  | { kind: 'unknownCustomer' }
  /** Another connection lets the same provider begin, so an answer would not say which is meant. */
  | { kind: 'providerTaken'; by: string }
  /** This provider and that of another connection name one address for single logout. */
  | { kind: 'logoutAddressTaken'; by: string };

/** Adds a connection to a customer and records it. */
export async function addConnection(
  { sql, keys }: { sql: Database; keys: Keys },
  { customerKey, secret, ...made }: ConnectionToAdd,
  now: Date,
): Promise<AddConnectionResult> {
  return await sql.begin(async (sql): Promise<AddConnectionResult> => {
    const customer = await findCustomer(sql, customerKey);
    if (!customer) return { kind: 'unknownCustomer' };
    const connections = await listSsoConnections(sql);
    const by = made.protocol === 'saml' ? otherThatMayBegin(made, connections) : null;
    if (by) return { kind: 'providerTaken', by };
    const other = made.protocol === 'saml' ? otherByLogoutAddress(made, connections) : null;
    if (other) return { kind: 'logoutAddressTaken', by: other };
    const id = randomUUID();
    const sealedSecret = secret === null ? null : seal(keys.seal, secret, connectionPlace(id));
    const connection = { ...made, id, customerId: customer.id, sealedSecret } as NewSsoConnection;
    if (!(await insertSsoConnection(sql, connection, now))) return { kind: 'taken' };
    const { key, protocol, domains } = made;
    const steps = [
      { step: 'protocol', outcome: protocol },
      { step: 'domains', outcome: domains.join(', ') },
    ];
    await insertAuditEvent(sql, { event: 'connection-added', connection: key, customerKey, steps }, now);
    return { kind: 'added' };
  });
}
