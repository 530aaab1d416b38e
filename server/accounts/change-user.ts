import type { AuditStep } from '../audit/audit-events.ts';
import { insertAuditEvent } from '../storage/audit-event.ts';
import type { Connection, Database } from '../storage/connect.ts';
import { listUnknownCustomerKeys } from '../storage/customer.ts';
import { deleteDevicesOfUser } from '../storage/device.ts';
import { lockLoginNames, updateLoginNames } from '../storage/login-name.ts';
import { updateMemberships } from '../storage/membership.ts';
import { findUserForUpdate, type User, type UserChanges, updateUser } from '../storage/portal-user.ts';
import { deleteSessionsOfUser } from '../storage/session.ts';
import { deleteThrottlesOfUser } from '../storage/throttle.ts';
import { foldLoginName } from './fold-name.ts';
import { foldsOfUser, takenField } from './names-of-user.ts';

/** What to change; absent means unchanged. `customers` takes the keys of now and gives those of then. */
export type ChangeOfUser = UserChanges & { customers?: (current: readonly string[]) => string[] };

export type ChangeUserResult =
  | { kind: 'changed'; steps: AuditStep[]; sessionsEnded: number }
  | { kind: 'unchanged' }
  | { kind: 'notFound' }
  | { kind: 'taken'; field: 'username' | 'email' }
  | { kind: 'unknownCustomers'; keys: string[] };

/**
 * Changes the user whom a username or e-mail names, and records what changed; all of it or nothing. Another password or
 * none, and being made inactive, ends the user's sessions; another password or none also makes the browsers that were
 * known for him strangers again and ends the waits of the account.
 */
export async function changeUser(
  sql: Database,
  name: string,
  change: ChangeOfUser,
  now: Date,
): Promise<ChangeUserResult> {
  return await sql.begin(async (sql): Promise<ChangeUserResult> => {
    const user = await findUserForUpdate(sql, foldLoginName(name));
    if (!user) return { kind: 'notFound' };
    const customers = [...new Set(change.customers?.(user.customers) ?? user.customers)].sort();
    const steps = stepsOf(user, change, customers);
    if (steps.length === 0) return { kind: 'unchanged' };
    const refusal = await reasonAgainst(sql, user, change, customers);
    if (refusal) return refusal;
    await updateUser(sql, user.id, change);
    await updateLoginNames(sql, user.id, foldsOfUser(namesAfter(user, change)));
    await updateMemberships(sql, user.id, customers);
    if (change.passwordHash !== undefined) {
      await deleteDevicesOfUser(sql, user.id);
      await deleteThrottlesOfUser(sql, user.id);
    }
    const endSessions = change.passwordHash !== undefined || change.active === false;
    const sessionsEnded = endSessions ? await deleteSessionsOfUser(sql, user.id) : 0;
    if (sessionsEnded > 0) steps.push({ step: 'sessions ended', outcome: String(sessionsEnded) });
    const { username } = namesAfter(user, change);
    await insertAuditEvent(sql, { event: 'user-changed', userId: user.id, username, steps }, now);
    return { kind: 'changed', steps, sessionsEnded };
  });
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
