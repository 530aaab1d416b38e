import { insertAuditEvent } from '../audit/audit-event.ts';
import type { AuditStep } from '../audit/audit-events.ts';
import type { Keys } from '../crypto/keys.ts';
import { seal } from '../crypto/sealed.ts';
import type { Database } from '../database/database.ts';
import { day, hour, minute } from '../limits.ts';
import { type NotAgreed, withAgreement } from '../people/what-follows.ts';
import { deleteSessionsOfConnection } from './provider-sessions.ts';
import { certificateFacts } from './saml/certificates.ts';
import { otherByLogoutAddress, otherThatMayBegin } from './saml/other-connections.ts';
import { logoutWords } from './saml/provider-metadata.ts';
import { forgetMetadataReading } from './saml-metadata-reading.ts';
import {
  connectionPlace,
  deleteSsoConnection,
  findSsoConnectionByKeyForUpdate,
  listSsoConnections,
  providerOf,
  type SsoConnection,
  type SsoConnectionChanges,
  updateSsoConnection,
  updateSsoDomains,
} from './sso-connection.ts';
import type { SamlSettings } from './sso-settings.ts';
import { deleteSsoSubjectsOfConnection } from './sso-subject.ts';

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
  | { kind: 'providerTaken'; by: string }
  | { kind: 'logoutAddressTaken'; by: string }
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
  now: Date,
  isAgreed = false,
): Promise<ChangeConnectionResult> {
  const agreed = { toAll: isAgreed, toOpening: changes.required === false };
  return await withAgreement(sql, agreed, async (sql): Promise<ChangeConnectionResult> => {
    const before = await findSsoConnectionByKeyForUpdate(sql, key);
    if (!before) return { kind: 'notFound' };
    const after = { ...before, ...changes, ...(domains && { domains: [...domains].sort() }) } as SsoConnection;
    const connections = await listSsoConnections(sql);
    const by = after.protocol === 'saml' ? otherThatMayBegin(after, connections) : null;
    if (by) return { kind: 'providerTaken', by };
    const other = after.protocol === 'saml' ? otherByLogoutAddress(after, connections) : null;
    if (other) return { kind: 'logoutAddressTaken', by: other };
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
    if (changes.settings) await forgetMetadataReading(sql, before.id);
    if (domains) await updateSsoDomains(sql, before.id, domains);
    const event = { event: 'connection-changed', connection: key, customerKey: before.customerKey, steps } as const;
    await insertAuditEvent(sql, event, now);
    return { kind: 'changed', steps, sessionsEnded, usersUnlinked, domainsDropped };
  });
}

type RemoveConnectionResult = { kind: 'removed'; sessionsEnded: number } | { kind: 'notFound' } | NotAgreed;

/** Removes a connection with its sessions and records it; its users stay. If its domain requires it, this needs `isAgreed`. */
export async function removeConnection(
  sql: Database,
  key: string,
  now: Date,
  isAgreed = false,
): Promise<RemoveConnectionResult> {
  return await withAgreement(sql, { toAll: isAgreed }, async (sql): Promise<RemoveConnectionResult> => {
    const connection = await findSsoConnectionByKeyForUpdate(sql, key);
    if (!connection) return { kind: 'notFound' };
    const sessionsEnded = await deleteSessionsOfConnection(sql, connection.id);
    await deleteSsoConnection(sql, connection.id);
    const { customerKey } = connection;
    const steps = [{ step: 'sessions ended', outcome: String(sessionsEnded) }];
    await insertAuditEvent(sql, { event: 'connection-removed', connection: key, customerKey, steps }, now);
    return { kind: 'removed', sessionsEnded };
  });
}

function differences(before: SsoConnection, after: SsoConnection): AuditStep[] {
  const old = wordsOf(before);
  return wordsOf(after).flatMap(([step, outcome], index) =>
    old[index]?.[1] === outcome ? [] : [{ step, outcome: `${old[index]?.[1]} → ${outcome}` }],
  );
}

/** A connection as an operator reads it, without secrets. */
export function wordsOf(connection: SsoConnection): [string, string][] {
  const { attributes } = connection;
  const { maxAuthenticationAge, ...all } = connection.settings;
  const { signOnBinding, logout, ...settings } = all as Partial<SamlSettings>;
  const samlWords: [string, string][] = [
    ['requests are sent by', signOnBinding ?? 'redirect'],
    ['single logout', logoutWords(logout)],
  ];
  const onOff = (value: boolean) => (value ? 'on' : 'off');
  return [
    ['name', connection.name],
    ['active', connection.active ? 'yes' : 'no'],
    ['domains', connection.domains.join(', ')],
    ['required', onOff(connection.required)],
    ['makes users', onOff(connection.makesUsers)],
    ['trusts email', onOff(connection.trustsEmail)],
    ['counts as second factor', connection.secondFactorValues.join(', ') || 'nothing'],
    [
      'attributes',
      Object.entries(attributes)
        .map(([what, name]) => `${what}=${name}`)
        .join(', ') || 'usual',
    ],
    ['maximum age of a sign-in', wordOfAge(maxAuthenticationAge ?? null)],
    ['provider networks', connection.providerNetworks.join(', ') || 'public ones only'],
    ...(connection.protocol === 'saml' ? samlWords : []),
    ['secret expires', connection.secretEndsAt?.toISOString().slice(0, 10) ?? 'not known'],
    ...Object.entries(settings).map(([name, value]): [string, string] => [
      wordsOfSetting[name] ?? name,
      Array.isArray(value) ? value.map(wordOf).join(' ') : String(value ?? 'none'),
    ]),
  ];
}

/** As the command line takes it. */
function wordOfAge(seconds: number | null): string {
  if (seconds === null) return 'none';
  const units: [number, string][] = [
    [day / 1000, 'd'],
    [hour / 1000, 'h'],
    [minute / 1000, 'm'],
  ];
  const [size, unit] = units.find(([size]) => seconds % size === 0) ?? [1, 's'];
  return `${seconds / size}${unit}`;
}

/** A certificate as the start of its fingerprint, enough to distinguish it; other text unchanged. */
function wordOf(text: string): string {
  return certificateFacts(text)?.fingerprint.slice(0, 23) ?? text;
}

const wordsOfSetting: Record<string, string> = {
  clientId: 'client id',
  clientAuthentication: 'client authentication',
  entityId: 'entity id',
  signOnUrl: 'sign-on address',
  metadataUrl: 'metadata address',
  mayBegin: 'provider may begin',
  wantsEncryption: 'wants encryption',
};
