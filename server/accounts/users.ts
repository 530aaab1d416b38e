import { insertAuditEvent, newestActOn } from '../audit/audit-event.ts';
import { type AuditStep, type By, type ByWhoSaw, whoseEvent } from '../audit/audit-events.ts';
import { type Connection, type Database, RollBack } from '../database/database.ts';
import { deleteRememberedDevices } from '../factors/devices.ts';
import { updateProvenByCode } from '../factors/may-change-factors.ts';
import { countPasskeys, deletePasskeysOfUser } from '../factors/passkey.ts';
import { queueMail } from '../mail/queue-mail.ts';
import { foldLoginName, type Reading } from '../names/read-name.ts';
import { listUnknownCustomerKeys, updateMemberships } from '../people/customer.ts';
import { isWithin } from '../people/groups.ts';
import {
  findPasswordHash,
  findUserForUpdate,
  foldsOfUser,
  insertUser,
  isLastOperator,
  lockLoginNames,
  type NewUser,
  takenField,
  type User,
  type UserChanges,
  updateLoginNames,
  updateUser,
} from '../people/portal-user.ts';
import { endSessionsOfUser } from '../sessions/end-sessions.ts';
import { deleteHalfSessionsOfUser } from '../sessions/half-session.ts';
import { passwordReplaced, queuePasswordNotice } from '../sign-in/change-password.ts';
import { endLinksOfUser } from '../sign-in/reset-link.ts';
import { deletePendingReset } from './reset-two-factor.ts';

/** Why a user cannot be as asked. */
type UserRefusal = Extract<Reading, { kind: 'refused' }>;
export type AddUserResult = { kind: 'added'; id: string } | UserRefusal;

export type UserToAdd = Omit<UserInWords, 'groups' | 'administers'> & Partial<UserInWords>;

/** Adds a user from validated fields, with names and customers, and records it; all or nothing. */
export async function addUser(sql: Database, user: UserToAdd, by: By): Promise<AddUserResult> {
  return await sql.begin((sql) => addUserWithin(sql, user, by));
}

/** The same within a transaction that does more. */
export async function addUserWithin(sql: Connection, asked: UserToAdd, { now, ...who }: By): Promise<AddUserResult> {
  const { groups = [], administers = [], ...user } = asked;
  const refusal = await reasonAgainst(sql, { ...user, groups, administers }, null);
  if (refusal) return refusal;
  const id = await insertUser(sql, user, now);
  await updateMemberships(sql, id, { customers: user.customers, groups, administers });
  await updateLoginNames(sql, id, foldsOfUser(user));
  const steps = newUserInWords({ ...user, groups, administers }, 'set');
  await insertAuditEvent(sql, { event: 'user-added', ...whoseEvent({ ...user, id }), steps, ...who }, now);
  return { kind: 'added', id };
}

type UserInWords = NewUser & Record<'customers' | 'groups' | 'administers', readonly string[]>;

/** A new user as events say it, as far as it is not as usual; `password`: where it comes from, if there is one. */
export function newUserInWords(user: UserToAdd, password: string): AuditStep[] {
  const { name = null, role = null, groups = [], administers = [], passwordHash } = user;
  const words = inWords({ ...user, name, role, groups, administers });
  const usual = ['none', 'yes', 'of the browser'];
  return [
    ...words.filter(({ step, outcome }) => step === 'customers' || !usual.includes(outcome)),
    { step: 'password', outcome: passwordHash === null ? 'none' : password },
  ];
}

/** What to change; absent means unchanged. `customers`, `groups` and `administers` map the current ones to the new ones. */
export type ChangeOfUser = UserChanges &
  Partial<Record<'customers' | 'groups' | 'administers', (current: readonly string[]) => string[]>>;

type ChangeUserResult =
  | { kind: 'changed'; steps: AuditStep[]; sessionsEnded: number }
  | { kind: 'unchanged' | 'notFound' | 'changedMeanwhile' }
  | UserRefusal;

/**
 * Changes the user with a username or email, and records the changes; all or nothing.
 * - A new or removed password ends the user's sessions and waits, and forgets their known browsers. A new one is notified by
 *   email. A removed one takes the passkeys along.
 * - Deactivation ends the user's sessions.
 * - A new email ends reset links, sign-ins that wait for an emailed code, and devices remembered by such a code. Sessions that
 *   have proven a code set up no app.
 */
export async function changeUser(sql: Database, name: string, change: ChangeOfUser, by: ByWhoSaw) {
  const { now, seen, ...who } = by;
  const { customers: customersFrom, groups: groupsFrom, administers: administersFrom, ...fields } = change;
  const { passwordHash } = fields;
  return await sql.begin(async (sql): Promise<ChangeUserResult | RollBack<ChangeUserResult>> => {
    const user = await findUserForUpdate(sql, foldLoginName(name));
    if (!user) return { kind: 'notFound' };
    const { id: userId } = user;
    if (seen !== undefined && seen !== (await newestActOn(sql, { userId }))) return { kind: 'changedMeanwhile' };
    const customers = [...new Set(customersFrom?.(user.customers) ?? user.customers)].sort();
    const groups = groupsFrom?.(user.groups) ?? user.groups.filter((group) => isWithin(group, customers));
    const looksAfter = administersFrom?.(user.administers) ?? user.administers.filter((key) => customers.includes(key));
    const administers = [...new Set(looksAfter)].sort();
    const after: User = { ...user, ...fields, customers, groups, administers };
    if (!(after.active && after.role === 'operator') && (await isLastOperator(sql, user)))
      return no('role: this is the last operator');
    const refusal = await reasonAgainst(sql, after, userId);
    if (refusal) return refusal;
    const steps = changedSteps(inWords(user), inWords(after));
    if (passwordHash) steps.push({ step: 'password', outcome: 'set' });
    if (passwordHash === null && user.hasPassword) steps.push({ step: 'password', outcome: 'removed' });
    const note = (step: string, count: number) => {
      if (count > 0) steps.push({ step, outcome: String(count) });
    };
    const hashBefore = await findPasswordHash(sql, userId);
    if (Object.keys(fields).length > 0) await updateUser(sql, userId, fields);
    await updateLoginNames(sql, userId, foldsOfUser(after));
    const asked = { customers, ...(groupsFrom && { groups }), ...(administersFrom && { administers }) };
    await updateMemberships(sql, userId, asked);
    // A user without a password signs in at a provider, and a passkey would get past it.
    note('passkeys removed', passwordHash === null ? await deletePasskeysOfUser(sql, userId) : 0);
    if (steps.length === 0) return new RollBack({ kind: 'unchanged' });
    note('passkeys that still sign in', passwordHash ? await countPasskeys(sql, userId) : 0);

    let sessionsEnded = 0;
    // Half sessions wait for what the former customers asked.
    if (customersFrom) await deleteHalfSessionsOfUser(sql, userId);
    // Whoever asked for a reset of the second factor might not any more.
    if ((customersFrom || fields.role) && (await deletePendingReset(sql, userId))) note('reset called off', 1);
    if (after.email !== user.email) {
      // Nothing sent to the old mailbox works any more; a sign-in in progress gets its code at the new one.
      await endLinksOfUser(sql, userId);
      await updateProvenByCode(sql, userId);
      sessionsEnded += await deleteHalfSessionsOfUser(sql, userId);
      note('devices forgotten', await deleteRememberedDevices(sql, userId, { factor: 'email' }));
    }
    if (passwordHash !== undefined) sessionsEnded += await passwordReplaced(sql, userId, { hashBefore, now });
    else if (fields.active === false) sessionsEnded += await endSessionsOfUser(sql, userId);
    note('sessions ended', sessionsEnded);
    // Also to the old address: it is the owner's if the change was not.
    if (after.email !== user.email)
      for (const { email } of [user, after]) await queueMail(sql, { ...after, email }, { kind: 'emailChanged', now });
    if (passwordHash && after.active) await queuePasswordNotice(sql, after, { now });
    const whose = whoseEvent({ ...after, customers: [...user.customers, ...customers].sort() });
    await insertAuditEvent(sql, { event: 'user-changed', ...whose, steps, ...who }, now);
    return { kind: 'changed', steps, sessionsEnded };
  });
}

const no = (problem: string): UserRefusal => ({ kind: 'refused', problem });

type Asked = Pick<User, 'username' | 'email'> & Record<'customers' | 'groups' | 'administers', readonly string[]>;

/** Locks the login names. `userId`: null for a new user. */
async function reasonAgainst(sql: Connection, asked: Asked, userId: string | null): Promise<UserRefusal | null> {
  const unknown = await listUnknownCustomerKeys(sql, asked.customers);
  if (unknown.length > 0) return no(`customer: there is no customer ${unknown.join(', ')}`);
  const foreign = asked.groups.find((group) => !isWithin(group, asked.customers));
  if (foreign !== undefined) return no(`group: ${foreign} is not of a customer of the user`);
  const other = asked.administers.find((key) => !asked.customers.includes(key));
  if (other !== undefined) return no(`administer: ${other} is not a customer of the user`);
  await lockLoginNames(sql);
  const field = await takenField(sql, asked, userId);
  return field ? no(`${field}: another user already has that name`) : null;
}

/** What operators set for a user, as events say it. */
function inWords(user: Omit<Required<UserInWords>, 'passwordHash'>): AuditStep[] {
  const { username, email, name, active, mayChangePassword, language, customers, groups, role, administers } = user;
  return [
    { step: 'username', outcome: username },
    { step: 'email', outcome: email },
    { step: 'name', outcome: name ?? 'none' },
    { step: 'active', outcome: active ? 'yes' : 'no' },
    { step: 'may change password', outcome: mayChangePassword ? 'yes' : 'no' },
    { step: 'language', outcome: language ?? 'of the browser' },
    { step: 'customers', outcome: customers.join(', ') || 'none' },
    { step: 'groups', outcome: groups.join(', ') || 'none' },
    { step: 'role', outcome: role ?? 'none' },
    { step: 'administers', outcome: administers.join(', ') || 'none' },
  ];
}

/** What differs between the same steps in words, before and after a change. */
export function changedSteps(before: readonly AuditStep[], after: readonly AuditStep[]): AuditStep[] {
  return after.flatMap(({ step, outcome }, index) =>
    before[index]?.outcome === outcome ? [] : [{ step, outcome: `${before[index]?.outcome} → ${outcome}` }],
  );
}
