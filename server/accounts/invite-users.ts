import { insertAuditEvent } from '../audit/audit-event.ts';
import { type By, whoseEvent } from '../audit/audit-events.ts';
import type { Keys } from '../crypto/keys.ts';
import { tokenHash } from '../crypto/token.ts';
import { type Connection, type Database, RollBack } from '../database/database.ts';
import { queueMail } from '../mail/queue-mail.ts';
import { foldLoginName } from '../names/read-name.ts';
import { findResetUsersForUpdate, makeLink, problemOfLink, type ResetUser } from '../sign-in/reset-link.ts';
import { type AddUserResult, addUserWithin, type UserToAdd } from './users.ts';

type Seal = Pick<Keys, 'seal'>;

type InviteUsersResult =
  /** Nobody was invited; why, for each name that was refused. */
  | { kind: 'refused'; refusals: { name: string; problem: string }[] }
  /** In the order of the names; a user who was named twice is invited once. */
  | { kind: 'invited'; users: Pick<ResetUser, 'username' | 'email'>[] };

/**
 * Mails each user, by username or email, a link to choose a first password (docs/decisions/0013), in place of any
 * earlier invitation; all or nobody.
 */
export async function inviteUsers(sql: Database, keys: Seal, names: readonly string[], by: By) {
  return await sql.begin((sql) => inviteWithin(sql, keys, names, by));
}

/** Adds a user without a password and invites them: neither without the other. */
export async function addInvitedUser(sql: Database, keys: Seal, user: UserToAdd, by: By): Promise<AddUserResult> {
  return await sql.begin(async (sql): Promise<AddUserResult | RollBack<AddUserResult>> => {
    const added = await addUserWithin(sql, user, by);
    if (added.kind === 'refused') return added;
    const invited = await inviteWithin(sql, keys, [user.username], by);
    const [refusal] = invited.kind === 'refused' ? invited.refusals : [];
    return refusal ? new RollBack({ kind: 'refused', problem: `invitation: ${refusal.problem}` }) : added;
  });
}

async function inviteWithin(sql: Connection, keys: Seal, names: readonly string[], by: By): Promise<InviteUsersResult> {
  const found = await findResetUsersForUpdate(sql, names.map(foldLoginName), null);
  const users = new Map<string, ResetUser>();
  const refusals: { name: string; problem: string }[] = [];
  for (const name of names) {
    const user = found.get(foldLoginName(name));
    const problem = user ? problemOf(user) : 'there is no such user';
    if (problem) refusals.push({ name, problem });
    else if (user) users.set(user.id, user);
  }
  if (refusals.length > 0) return { kind: 'refused', refusals };
  for (const user of users.values()) await invite(sql, keys, user, by);
  return { kind: 'invited', users: [...users.values()].map(({ username, email }) => ({ username, email })) };
}

function problemOf(user: ResetUser): string | null {
  if (!user.active || user.passwordHash === null) return problemOfLink(user);
  return `the user has a password already; vestibule user reset-link ${user.username} makes a link for a new one`;
}

async function invite(sql: Connection, keys: Seal, user: ResetUser, { now, ...who }: By): Promise<void> {
  const { token, replaced } = await makeLink(sql, user.id, now, 'invitation');
  const carried = { token, tokenHash: tokenHash(token), keys: keys.seal };
  await queueMail(sql, user, { kind: 'invitation', now }, carried);
  const steps = [
    { step: 'email', outcome: user.email },
    ...(replaced > 0 ? [{ step: 'earlier invitation', outcome: 'replaced' }] : []),
  ];
  await insertAuditEvent(sql, { event: 'invited', ...whoseEvent(user), steps, ...who }, now);
}
