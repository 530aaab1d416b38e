import { insertAuditEvent } from '../audit/audit-event.ts';
import type { AuditEvent } from '../audit/audit-events.ts';
import type { Connection } from '../database/database.ts';
import { rowOrNull } from '../database/database.ts';
import { type MailPlace, queueMail } from '../mail/queue-mail.ts';
import { findActiveUserForChange } from '../people/portal-user.ts';
import { endSessionsOfUser } from '../sessions/end-sessions.ts';
import providers from './providers.json' with { type: 'json' };

/** A passkey as its user and an operator see it. */
export type Passkey = {
  id: string;
  name: string;
  /** Of the model or the program that keeps it; all zeros if it does not say. */
  aaguid: string;
  /** Whether it may leave the device that made it, and whether it has. */
  backupEligible: boolean;
  backedUp: boolean;
  madeAt: Date;
  lastUsedAt: Date | null;
};

/** What an assertion is checked against. */
export type PasskeyToVerify = {
  id: string;
  userId: string;
  username: string;
  name: string;
  credentialId: Buffer;
  publicKey: Buffer;
  counter: number;
  backupEligible: boolean;
};

export type NewPasskey = Pick<PasskeyToVerify, 'userId' | 'credentialId' | 'publicKey' | 'counter' | 'backupEligible'> &
  Pick<Passkey, 'name' | 'aaguid' | 'backedUp'> & { rpId: string; transports: string[]; now: Date };

/** The passkey with a credential id, or null. */
export async function findPasskeyToVerify(
  sql: Connection,
  { credentialId, rpId }: { credentialId: Buffer; rpId: string },
): Promise<PasskeyToVerify | null> {
  return await rowOrNull(sql<PasskeyToVerify[]>`
    select p.id, p.user_id as "userId", u.username, p.name, p.credential_id as "credentialId", p.public_key as "publicKey",
      p.counter, p.backup_eligible as "backupEligible"
    from passkey p join portal_user u on u.id = p.user_id
    where p.credential_id = ${credentialId} and p.rp_id = ${rpId}`);
}

/**
 * Records a use of a passkey, unless it was removed (`gone`) or its counter has moved on (`counted`) since it was read: of two
 * assertions with one count, one is recorded. Authenticators that do not count always say 0 (Web Authentication Level 3, §6.1.1).
 */
export async function updatePasskeyUsed(
  sql: Connection,
  id: string,
  { counter, backedUp, now }: { counter: number; backedUp: boolean; now: Date },
): Promise<'recorded' | 'gone' | 'counted'> {
  const { count } = await sql`
    update passkey set counter = ${counter}, backed_up = ${backedUp}, last_used_at = ${now}
    where id = ${id} and (counter < ${counter}::bigint or counter = 0 and ${counter}::bigint = 0)`;
  if (count > 0) return 'recorded';
  return (await sql`select from passkey where id = ${id}`).length > 0 ? 'counted' : 'gone';
}

/** Adds a passkey unless its credential id is taken; returns its id, or null. Lock the user first. */
export async function insertPasskey(sql: Connection, passkey: NewPasskey): Promise<string | null> {
  const { userId, credentialId, publicKey, rpId, counter, backupEligible, backedUp, aaguid } = passkey;
  const [row] = await sql<{ id: string }[]>`
    insert into passkey (user_id, credential_id, public_key, rp_id, counter, backup_eligible, backed_up, aaguid, transports, name, made_at)
    values (${userId}, ${credentialId}, ${publicKey}, ${rpId}, ${counter}, ${backupEligible}, ${backedUp},
      ${aaguid}, ${passkey.transports}, ${passkey.name}, ${passkey.now})
    on conflict (credential_id) do nothing returning id`;
  return row?.id ?? null;
}

/** The passkeys of a user, oldest first. */
export async function listPasskeys(sql: Connection, userId: string): Promise<Passkey[]> {
  return await sql<Passkey[]>`
    select id, name, aaguid, backup_eligible as "backupEligible", backed_up as "backedUp", made_at as "madeAt",
      last_used_at as "lastUsedAt"
    from passkey where user_id = ${userId} order by made_at, id`;
}

/** What a new ceremony names of a user's passkeys, so that no device enrols twice. */
export async function listCredentials(
  sql: Connection,
  { userId, rpId }: { userId: string; rpId: string },
): Promise<{ credentialId: Buffer; transports: string[] }[]> {
  return await sql<{ credentialId: Buffer; transports: string[] }[]>`
    select credential_id as "credentialId", transports from passkey
    where user_id = ${userId} and rp_id = ${rpId} order by made_at, id`;
}

/** How many passkeys a user has. */
export async function countPasskeys(sql: Connection, userId: string): Promise<number> {
  const [row] = await sql<{ count: number }[]>`select count(*)::int as count from passkey where user_id = ${userId}`;
  return row?.count ?? 0;
}

/** Whether a user has a passkey of a relying party. */
export async function hasPasskey(
  sql: Connection,
  { userId, rpId }: { userId: string; rpId: string },
): Promise<boolean> {
  return (await sql`select from passkey where user_id = ${userId} and rp_id = ${rpId} limit 1`).length > 0;
}

/** Renames a user's passkey; whether it is there. */
export async function updatePasskeyName(
  sql: Connection,
  { id, userId, name }: { id: string; userId: string; name: string },
): Promise<boolean> {
  return (await sql`update passkey set name = ${name} where id = ${id} and user_id = ${userId}`).count > 0;
}

/** Removes all passkeys of a user; returns how many. Lock the user first. */
export async function deletePasskeysOfUser(sql: Connection, userId: string): Promise<number> {
  return (await sql`delete from passkey where user_id = ${userId}`).count;
}

/**
 * Removes a passkey of a user in a transaction, and tells them; whether it was there. `by`: what the event and the email say of
 * who did it, and the session that they did it in, which goes on. Nobody can sign in by the passkey any more, and the sessions
 * that it opened end: within ten minutes of the sign-in they could add another.
 */
export async function removePasskey(
  sql: Connection,
  { id, user }: { id: string; user: { id: string; username: string } },
  by: {
    event?: Pick<AuditEvent, 'actor' | 'address' | 'requestId' | 'customerKey' | 'connectionId'>;
    mail?: MailPlace;
    sessionId?: string;
  },
  now: Date,
): Promise<boolean> {
  const { id: userId, username } = user;
  const reader = await findActiveUserForChange(sql, userId);
  const [removed] = await sql<{ name: string }[]>`
    delete from passkey where id = ${id} and user_id = ${userId} returning name`;
  if (!removed) return false;
  const steps = [{ step: 'passkey', outcome: `${id}, ${removed.name}` }];
  const kept = by.sessionId ?? null;
  const ended = await endSessionsOfUser(sql, userId, { passkeyId: id, kept });
  if (ended > 0) steps.push({ step: 'sessions ended', outcome: String(ended) });
  await insertAuditEvent(sql, { ...by.event, event: 'passkey-removed', userId, username, steps }, now);
  if (reader) await queueMail(sql, reader, { kind: 'passkeyRemoved', now, passkey: removed.name, ...by.mail });
  return true;
}

/** What keeps passkeys, by the AAGUID that it says; never looked up anywhere else. */
const names = new Map(providers.map(({ aaguid, name }) => [aaguid, name]));

/** The name of what keeps a passkey, or null: many do not say, and anybody may say anything. */
export function providerName(aaguid: string): string | null {
  return names.get(aaguid) ?? null;
}
