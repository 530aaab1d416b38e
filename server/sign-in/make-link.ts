import { insertAuditEvent } from '../audit/audit-event.ts';
import { newToken, tokenHash } from '../crypto/token.ts';
import type { Connection, Database } from '../database/database.ts';
import { limits } from '../limits.ts';
import { foldLoginName } from '../names/fold-name.ts';
import { endLinksOfUser, findResetUsersForUpdate, insertResetLink, type LinkPurpose } from './reset-link.ts';

const lifetimes: Record<LinkPurpose, number> = { reset: limits.resetLink, invitation: limits.invitation };

/**
 * Makes a link for a user, in place of those made before for the same purpose. Only a hash of the token is stored.
 * `replaced`: how many there were.
 */
export async function makeLink(
  sql: Connection,
  userId: string,
  now: Date,
  purpose: LinkPurpose = 'reset',
): Promise<{ token: string; replaced: number }> {
  const replaced = await endLinksOfUser(sql, userId, purpose);
  const token = newToken();
  const endsAt = new Date(now.getTime() + lifetimes[purpose]);
  await insertResetLink(sql, { tokenHash: tokenHash(token), userId, purpose, madeAt: now, endsAt });
  return { token, replaced };
}

type IssueResetLinkResult =
  | { kind: 'notFound' }
  /** A change by link would be refused. */
  | { kind: 'useless'; username: string; problem: string }
  | { kind: 'issued'; username: string; token: string };

/** Makes a reset link for an operator to hand over, by a user's username or email. */
export async function issueResetLink(sql: Database, name: string, now: Date): Promise<IssueResetLinkResult> {
  return await sql.begin(async (sql): Promise<IssueResetLinkResult> => {
    const [user] = (await findResetUsersForUpdate(sql, [foldLoginName(name)], { address: null, rpId: null })).values();
    if (!user) return { kind: 'notFound' };
    const { id: userId, username } = user;
    const useless = (problem: string) => ({ kind: 'useless', username, problem }) as const;
    if (!user.active) return useless('the user is inactive');
    if (user.passkeyRequired)
      return useless(
        `a customer of the user takes passkeys only; vestibule user invite ${username} mails a link to make one`,
      );
    if (user.ssoRequired) return useless('the domain of the user allows single sign-on only');
    if (!user.mayChangePassword) return useless('the user may not change the password');
    if (user.customers.length === 0) return useless('the user has no active customer');
    const { token } = await makeLink(sql, userId, now);
    await insertAuditEvent(sql, { event: 'reset-link-made', userId, username }, now);
    return { kind: 'issued', username, token };
  });
}
