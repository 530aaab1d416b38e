import type { AuditStep } from '../audit/audit-events.ts';
import { foldLoginName } from '../names/fold-name.ts';
import { passwordReplaced, queuePasswordNotice } from '../password/password-replaced.ts';
import { insertAuditEvent } from '../storage/audit-event.ts';
import { listUnknownCustomerKeys } from '../storage/customer.ts';
import { type Connection, type Database, RollBack } from '../storage/database.ts';
import { updateProvenByCode } from '../storage/factor-scope.ts';
import { deleteHalfSessionsOfUser } from '../storage/half-session.ts';
import { lockLoginNames, updateLoginNames } from '../storage/login-name.ts';
import { updateMemberships } from '../storage/membership.ts';
import { foldsOfUser, takenField } from '../storage/names-of-user.ts';
import { countPasskeys, deletePasskeysOfUser } from '../storage/passkey.ts';
import { isPasskeyRequired } from '../storage/passkey-policy.ts';
import {
  findPasswordHash,
  findUserForUpdate,
  type User,
  type UserChanges,
  updateUser,
} from '../storage/portal-user.ts';
import { deleteDevicesRememberedBy } from '../storage/remembered-device.ts';
import { endLinksOfUser } from '../storage/reset-link.ts';
import { endSessionsOfUser } from '../storage/session-list.ts';

/** What to change; absent means unchanged. `customers` maps the current keys to the new ones. */
export type ChangeOfUser = UserChanges & { customers?: (current: readonly string[]) => string[] };

type ChangeUserResult =
  | { kind: 'changed'; steps: AuditStep[]; sessionsEnded: number }
  | { kind: 'unchanged' }
  | { kind: 'notFound' }
  | { kind: 'taken'; field: 'username' | 'email' }
  | { kind: 'unknownCustomers'; keys: string[] };

/**
 * Changes the user with a username or email, and records the changes; all or nothing. A new or removed password, or
 * deactivation, ends the user's sessions. A new or removed password also forgets their known browsers and ends
 * the account's waits; a new one notifies them, a removed one removes their passkeys, too, unless a customer takes nothing else. A new email ends reset links, sign-ins waiting for an emailed code, and
 * devices remembered by such a code; sessions that have proven a code set up no app.
 */
export async function changeUser(
  sql: Database,
  name: string,
  change: ChangeOfUser,
  now: Date,
): Promise<ChangeUserResult> {
  return await sql.begin(async (sql): Promise<ChangeUserResult | RollBack<ChangeUserResult>> => {
    const user = await findUserForUpdate(sql, foldLoginName(name));
    if (!user) return { kind: 'notFound' };
    const customers = [...new Set(change.customers?.(user.customers) ?? user.customers)].sort();
    const refusal = await reasonAgainst(sql, user, change, customers);
    if (refusal) return refusal;
    const steps = stepsOf(user, change, customers);
    const hashBefore = await findPasswordHash(sql, user.id);
    await updateUser(sql, user.id, change);
    await updateLoginNames(sql, user.id, foldsOfUser(namesAfter(user, change)));
    await updateMemberships(sql, user.id, customers);
    // Who has no password signs in at a provider, and a passkey would be a way past it; unless nothing but passkeys signs in.
    const losesPasskeys = change.passwordHash === null && !(await isPasskeyRequired(sql, user.id));
    const passkeysRemoved = losesPasskeys ? await deletePasskeysOfUser(sql, user.id) : 0;
    if (passkeysRemoved > 0) steps.push({ step: 'passkeys removed', outcome: String(passkeysRemoved) });
    if (steps.length === 0) return new RollBack({ kind: 'unchanged' });
    // They wait for what the customers before asked.
    if (change.customers) await deleteHalfSessionsOfUser(sql, user.id);
    const passkeysLeft = change.passwordHash ? await countPasskeys(sql, user.id) : 0;
    if (passkeysLeft > 0) steps.push({ step: 'passkeys that still sign in', outcome: String(passkeysLeft) });
    const { sessionsEnded, devicesForgotten } = await endWhatDepended(sql, user, change, hashBefore, now);
    if (devicesForgotten > 0) steps.push({ step: 'devices forgotten', outcome: String(devicesForgotten) });
    if (sessionsEnded > 0) steps.push({ step: 'sessions ended', outcome: String(sessionsEnded) });
    const after = { ...user, ...namesAfter(user, change) };
    if (change.passwordHash && (change.active ?? user.active)) await queuePasswordNotice(sql, after, { now });
    const { username } = after;
    await insertAuditEvent(sql, { event: 'user-changed', userId: user.id, username, steps }, now);
    return { kind: 'changed', steps, sessionsEnded };
  });
}

/** Ends what the old password, address or state had opened; returns the number of ended sessions and forgotten browsers. */
async function endWhatDepended(
  sql: Connection,
  user: User,
  change: ChangeOfUser,
  hashBefore: string | null,
  now: Date,
): Promise<{ sessionsEnded: number; devicesForgotten: number }> {
  const emailed =
    change.email !== undefined && change.email !== user.email ? await emailReplaced(sql, user.id) : nothingEnded;
  const { devicesForgotten } = emailed;
  let { sessionsEnded } = emailed;
  if (change.passwordHash !== undefined) sessionsEnded += await passwordReplaced(sql, user.id, hashBefore, now);
  else if (change.active === false) sessionsEnded += await endSessionsOfUser(sql, user.id);
  return { sessionsEnded, devicesForgotten };
}

const nothingEnded = { sessionsEnded: 0, devicesForgotten: 0 };

/** Nothing sent to the old mailbox works any more; a sign-in in progress gets its code at the new one. */
async function emailReplaced(sql: Connection, userId: string): Promise<typeof nothingEnded> {
  await endLinksOfUser(sql, userId);
  await updateProvenByCode(sql, userId);
  return {
    sessionsEnded: await deleteHalfSessionsOfUser(sql, userId),
    devicesForgotten: await deleteDevicesRememberedBy(sql, userId, 'email'),
  };
}

async function reasonAgainst(
  sql: Connection,
  user: User,
  change: ChangeOfUser,
  customers: readonly string[],
): Promise<ChangeUserResult | null> {
  const unknown = await listUnknownCustomerKeys(sql, customers);
  if (unknown.length > 0) return { kind: 'unknownCustomers', keys: unknown };
  await lockLoginNames(sql);
  const field = await takenField(sql, namesAfter(user, change), user.id);
  return field ? { kind: 'taken', field } : null;
}

function namesAfter(user: User, { username = user.username, email = user.email }: UserChanges) {
  return { username, email };
}

function stepsOf(user: User, change: ChangeOfUser, customers: readonly string[]): AuditStep[] {
  const steps: AuditStep[] = [];
  const compare = (step: string, before: string, after: string) => {
    if (before !== after) steps.push({ step, outcome: `${before} → ${after}` });
  };
  const yesOrNo = (value: boolean) => (value ? 'yes' : 'no');
  const names = namesAfter(user, change);
  compare('username', user.username, names.username);
  compare('email', user.email, names.email);
  compare('active', yesOrNo(user.active), yesOrNo(change.active ?? user.active));
  compare(
    'may change password',
    yesOrNo(user.mayChangePassword),
    yesOrNo(change.mayChangePassword ?? user.mayChangePassword),
  );
  const language = change.language === undefined ? user.language : change.language;
  compare('language', user.language ?? 'of the browser', language ?? 'of the browser');
  compare('customers', user.customers.join(', ') || 'none', customers.join(', ') || 'none');
  if (change.passwordHash) steps.push({ step: 'password', outcome: 'set' });
  if (change.passwordHash === null && user.hasPassword) steps.push({ step: 'password', outcome: 'removed' });
  return steps;
}
