import { foldLoginName } from '../names/fold-name.ts';
import { insertAuditEvent } from '../storage/audit-event.ts';
import type { Database } from '../storage/database.ts';
import { isPasskeyRequired } from '../storage/passkey-policy.ts';
import { findUserForUpdate, type User } from '../storage/portal-user.ts';
import { makeResetToken } from './reset-token.ts';

export type IssueResetLinkResult =
  | { kind: 'notFound' }
  /** A change by link would be refused. */
  | { kind: 'useless'; username: string; problem: string }
  | { kind: 'issued'; username: string; token: string };

/** Creates the token of a reset link for an operator to hand over, by a user's username or email. */
export async function issueResetLink(sql: Database, name: string, now: Date): Promise<IssueResetLinkResult> {
  return await sql.begin(async (sql): Promise<IssueResetLinkResult> => {
    const user = await findUserForUpdate(sql, foldLoginName(name));
    if (!user) return { kind: 'notFound' };
    const { id: userId, username } = user;
    const problem = problemOf(user, await isPasskeyRequired(sql, userId));
    if (problem) return { kind: 'useless', username, problem };
    const token = await makeResetToken(sql, userId, now);
    await insertAuditEvent(sql, { event: 'reset-link-made', userId, username }, now);
    return { kind: 'issued', username, token };
  });
}

function problemOf({ username, active, mayChangePassword, customers }: User, passkeyRequired: boolean): string | null {
  if (!active) return 'the user is inactive';
  if (passkeyRequired)
    return `a customer of the user takes passkeys only; vestibule user invite ${username} mails a link to make one`;
  if (!mayChangePassword) return 'the user may not change the password';
  return customers.length === 0 ? 'the user has no customer' : null;
}
