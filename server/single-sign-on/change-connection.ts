import { randomUUID } from 'node:crypto';
import { insertAuditEvent } from '../audit/audit-event.ts';
import type { AuditStep, By } from '../audit/audit-events.ts';
import type { Keys } from '../crypto/keys.ts';
import { seal } from '../crypto/keys.ts';
import type { Database } from '../database/database.ts';
import { findCustomer } from '../people/customer.ts';
import { wordsOfConnection } from './connection-words.ts';
import { deleteSessionsOfConnection } from './provider-sessions.ts';
import {
  connectionPlace,
  findSsoConnectionByKeyForUpdate,
  insertSsoConnection,
  type NewSsoConnection,
  type ProtocolSettings,
  providerOf,
  type SsoConnection,
  type SsoConnectionChanges,
  updateSsoConnection,
  updateSsoDomains,
} from './sso-connection.ts';
import { deleteSsoSubjectsOfConnection } from './sso-subject.ts';
import { type NotAgreed, withAgreement } from './with-agreement.ts';

/** A connection with its fields already read; `secret` is in plain text and is sealed here. */
export type ConnectionToAdd = Omit<NewSsoConnection, 'id' | 'customerId' | 'sealedSecret' | 'protocol' | 'settings'> & {
  customerKey: string;
  secret: string | null;
} & ProtocolSettings;

type AddConnectionResult = { kind: 'added' } | { kind: 'taken' } | { kind: 'unknownCustomer' };

/** Adds a connection to a customer and records it. */
export async function addConnection(
  { sql, keys }: { sql: Database; keys: Keys },
  { customerKey, secret, ...made }: ConnectionToAdd,
  { now, ...who }: By,
): Promise<AddConnectionResult> {
  return await sql.begin(async (sql): Promise<AddConnectionResult> => {
    const customer = await findCustomer(sql, customerKey);
    if (!customer) return { kind: 'unknownCustomer' };
    const id = randomUUID();
    const sealedSecret = secret === null ? null : seal(keys.seal, secret, connectionPlace(id));
    const connection = { ...made, id, customerId: customer.id, sealedSecret } as NewSsoConnection;
    if (!(await insertSsoConnection(sql, connection, now))) return { kind: 'taken' };
    const { key, protocol, domains } = made;
    const steps = [
      { step: 'protocol', outcome: protocol },
      { step: 'domains', outcome: domains.join(', ') },
    ];
    await insertAuditEvent(sql, { event: 'connection-added', connection: key, customerKey, steps, ...who }, now);
    return { kind: 'added' };
  });
}

/**
 * Absent means unchanged; `secret` is in plain text and is sealed here. `keepsLinks`: another issuer or entity ID is only
 * another name of the same provider, and users in a domain that is dropped may still sign in.
 */
export type ChangeOfConnection = Omit<SsoConnectionChanges, 'sealedSecret'> & {
  secret?: string;
  domains?: string[];
  keepsLinks?: boolean;
};

type ChangeConnectionResult =
  | { kind: 'changed'; steps: AuditStep[]; sessionsEnded: number; usersUnlinked: number; domainsDropped: string[] }
  | { kind: 'unchanged' }
  | { kind: 'notFound' }
  | NotAgreed;

/**
 * Changes a connection and records what changed, without secrets. People who are at the provider now have to begin again.
 * Disabling it ends its sessions for good; another provider ends them and its users' links; a dropped domain ends what its
 * users have of these.
 * Changes that enable passwords, lock a domain out or unlink users need `isAgreed`; `required: false` agrees to enabling
 * passwords.
 */
export async function changeConnection(
  { sql, keys }: { sql: Database; keys: Keys },
  key: string,
  { secret, domains, keepsLinks = false, ...changes }: ChangeOfConnection,
  { now, ...who }: By,
  isAgreed = false,
): Promise<ChangeConnectionResult> {
  const agreed = { toAll: isAgreed, toOpening: changes.required === false };
  return await withAgreement(sql, agreed, async (sql): Promise<ChangeConnectionResult> => {
    const before = await findSsoConnectionByKeyForUpdate(sql, key);
    if (!before) return { kind: 'notFound' };
    const after = { ...before, ...changes, ...(domains && { domains: [...domains].sort() }) } as SsoConnection;
    const steps = [
      ...differences(before, after),
      ...(secret === undefined ? [] : [{ step: 'secret', outcome: 'set' }]),
    ];
    if (steps.length === 0) return { kind: 'unchanged' };
    const sealedSecret =
      secret === undefined ? {} : { sealedSecret: seal(keys.seal, secret, connectionPlace(before.id)) };
    const isReplaced = providerOf(before) !== providerOf(after) && !keepsLinks;
    const dropped = before.domains.filter((domain) => !after.domains.includes(domain));
    const domainsDropped = isReplaced || keepsLinks ? [] : dropped;
    const isUnlinking = isReplaced || domainsDropped.length > 0;
    let sessionsEnded = 0;
    let usersUnlinked = 0;
    if (changes.active === false || isUnlinking) {
      const isOfAll = changes.active === false || isReplaced;
      sessionsEnded = await deleteSessionsOfConnection(sql, before.id, isOfAll ? null : domainsDropped);
      steps.push({ step: 'sessions ended', outcome: String(sessionsEnded) });
    }
    if (isUnlinking) {
      usersUnlinked = await deleteSsoSubjectsOfConnection(sql, before.id, isReplaced ? null : domainsDropped);
      steps.push({ step: 'users unlinked', outcome: String(usersUnlinked) });
    }
    await updateSsoConnection(sql, before.id, { ...changes, ...sealedSecret });
    // The metadata are read again soon, and compared with the new settings.
    if (changes.settings)
      await sql`update sso_connection set metadata_read_at = null, metadata_differences = '{}' where id = ${before.id}`;
    if (domains) await updateSsoDomains(sql, before.id, domains);
    const event = {
      event: 'connection-changed',
      connection: key,
      customerKey: before.customerKey,
      steps,
      ...who,
    } as const;
    await insertAuditEvent(sql, event, now);
    return { kind: 'changed', steps, sessionsEnded, usersUnlinked, domainsDropped };
  });
}

type RemoveConnectionResult = { kind: 'removed'; sessionsEnded: number } | { kind: 'notFound' } | NotAgreed;

/** Removes a connection with its sessions and records it; its users stay. It needs `isAgreed`. */
export async function removeConnection(sql: Database, key: string, { now, ...who }: By, isAgreed = false) {
  return await withAgreement(sql, { toAll: isAgreed }, async (sql): Promise<RemoveConnectionResult> => {
    const connection = await findSsoConnectionByKeyForUpdate(sql, key);
    if (!connection) return { kind: 'notFound' };
    const sessionsEnded = await deleteSessionsOfConnection(sql, connection.id);
    await sql`delete from sso_connection where id = ${connection.id}`;
    const { customerKey } = connection;
    const steps = [{ step: 'sessions ended', outcome: String(sessionsEnded) }];
    await insertAuditEvent(sql, { event: 'connection-removed', connection: key, customerKey, steps, ...who }, now);
    return { kind: 'removed', sessionsEnded };
  });
}

function differences(before: SsoConnection, after: SsoConnection): AuditStep[] {
  const old = wordsOfConnection(before);
  return wordsOfConnection(after).flatMap(([step, outcome], index) =>
    old[index]?.[1] === outcome ? [] : [{ step, outcome: `${old[index]?.[1]} → ${outcome}` }],
  );
}
