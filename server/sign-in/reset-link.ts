import { insertAuditEvent } from '../audit/audit-event.ts';
import { type By, whoseEvent } from '../audit/audit-events.ts';
import type { Keys } from '../crypto/keys.ts';
import { newToken, tokenHash } from '../crypto/token.ts';
import type { Connection, Database } from '../database/database.ts';
import { limits } from '../limits.ts';
import { queueMail } from '../mail/queue-mail.ts';
import { foldLoginName } from '../names/read-name.ts';
import { admits } from '../people/customer.ts';
import { isSsoPossibleFor, isSsoRequiredOf } from '../people/sign-in-policy.ts';

/** What a link is for. An invitation gives a first password, and never replaces one. */
export type LinkPurpose = 'reset' | 'invitation';

/** A link and its user, as seen from one address; `user` is null if the account is gone. */
export type ResetLink = { purpose: LinkPurpose; endsAt: Date; usedAt: Date | null; user: ResetUser | null };

export type ResetUser = {
  id: string;
  username: string;
  email: string;
  language: string | null;
  active: boolean;
  mayChangePassword: boolean;
  passwordHash: string | null;
  /** Whether one of the names has a domain with single sign-on only, and whether the user can use it at all. */
  ssoRequired: boolean;
  ssoPossible: boolean;
  /** The active customers; `admits` says whether each one's networks allow the address. */
  customers: { key: string; name: string; admits: boolean }[];
};

/** `address`: of the visitor, null for an operator. */
const userColumns = (sql: Connection, address: string | null) => sql`
  u.id, u.username, u.email, u.language, u.active, u.may_change_password as "mayChangePassword",
  u.password_hash as "passwordHash", ${isSsoRequiredOf(sql, sql`u.id`)} as "ssoRequired",
  ${isSsoPossibleFor(sql, sql`u.id`)} as "ssoPossible",
  (
    select coalesce(jsonb_agg(jsonb_build_object('key', c.key, 'name', c.name, 'admits',
      ${address === null ? sql`true` : admits(sql, sql`c.allowed_networks`, address)}) order by c.key), '[]')
    from membership m join customer c on c.id = m.customer_id where m.user_id = u.id and c.active
  ) as customers`;

/** The link behind a token hash, or null if it is unknown or expired long ago. */
export async function findResetLink(
  sql: Connection,
  tokenHash: Buffer,
  address: string | null,
): Promise<ResetLink | null> {
  const [row] = await sql<(Omit<ResetLink, 'user'> & Partial<ResetUser>)[]>`
    select l.purpose, l.ends_at as "endsAt", l.used_at as "usedAt", ${userColumns(sql, address)}
    from reset_link l left join portal_user u on u.id = l.user_id where l.token_hash = ${tokenHash}`;
  if (!row) return null;
  const { purpose, endsAt, usedAt, ...user } = row;
  return { purpose, endsAt, usedAt, user: user.id ? (user as ResetUser) : null };
}

/** Locks the users with some folded names until the transaction ends, in one order against deadlocks; returns them by name. */
export async function findResetUsersForUpdate(
  sql: Connection,
  folds: readonly string[],
  address: string | null,
): Promise<Map<string, ResetUser>> {
  const rows = await sql<(ResetUser & { fold: string })[]>`
    select n.fold, ${userColumns(sql, address)} from login_name n join portal_user u on u.id = n.user_id
    where n.fold = any(${folds as string[]}::text[]) order by u.id for no key update of u`;
  return new Map(rows.map(({ fold, ...user }) => [fold, user]));
}

/** Uses up a link. Of concurrent calls one gets true, the others wait and get false. */
export async function spendResetLink(sql: Connection, tokenHash: Buffer, now: Date): Promise<boolean> {
  const { count } = await sql`
    update reset_link set used_at = ${now}
    where token_hash = ${tokenHash} and used_at is null and ends_at > ${now}`;
  return count > 0;
}

/** Ends the unused links of a user, or only those made for one purpose; returns how many. */
export async function endLinksOfUser(
  sql: Connection,
  userId: string,
  purpose: LinkPurpose | null = null,
): Promise<number> {
  const { count } = await sql`
    update reset_link set ends_at = made_at
    where user_id = ${userId} and used_at is null and ends_at > made_at and purpose = coalesce(${purpose}, purpose)`;
  return count;
}

/** Starts the time of a link whose email is about to be sent; false if it was used or replaced. */
export async function startResetLink(sql: Connection, tokenHash: Buffer, endsAt: Date): Promise<boolean> {
  const { count } = await sql`
    update reset_link set ends_at = ${endsAt}
    where token_hash = ${tokenHash} and used_at is null and ends_at > made_at`;
  return count > 0;
}

const lifetimes: Record<LinkPurpose, number> = { reset: limits.resetLink, invitation: limits.invitation };

/** Makes a link for a user in place of `replaced` earlier ones for the same purpose. Only its token's hash is stored. */
export async function makeLink(
  sql: Connection,
  userId: string,
  now: Date,
  purpose: LinkPurpose = 'reset',
): Promise<{ token: string; replaced: number }> {
  const replaced = await endLinksOfUser(sql, userId, purpose);
  const token = newToken();
  const endsAt = new Date(now.getTime() + lifetimes[purpose]);
  await sql`
    insert into reset_link (token_hash, user_id, purpose, made_at, ends_at)
    values (${tokenHash(token)}, ${userId}, ${purpose}, ${now}, ${endsAt})`;
  return { token, replaced };
}

/** Makes a reset link for an operator to hand over, by a user's username or email; with `keys` it is mailed to the user instead. */
export async function issueResetLink(sql: Database, name: string, by: By, keys: Pick<Keys, 'seal'> | null = null) {
  const { now, ...who } = by;
  return await sql.begin(async (sql) => {
    const [user] = (await findResetUsersForUpdate(sql, [foldLoginName(name)], null)).values();
    if (!user) return { kind: 'notFound' } as const;
    const { id: userId, username } = user;
    const problem = problemOfLink(user);
    if (problem) return { kind: 'useless', username, problem } as const;
    const { token } = await makeLink(sql, userId, now);
    if (keys)
      await queueMail(sql, user, { kind: 'resetLink', now }, { token, tokenHash: tokenHash(token), keys: keys.seal });
    const event = keys ? 'reset-link-mailed' : 'reset-link-made';
    await insertAuditEvent(sql, { event, ...whoseEvent(user), ...who }, now);
    return { kind: 'issued', username, token } as const;
  });
}

/** Why a link would be of no use to a user, or null. */
export function problemOfLink({ active, ssoRequired, mayChangePassword, customers }: ResetUser): string | null {
  if (!active) return 'the user is inactive';
  if (ssoRequired) return 'the domain of the user allows single sign-on only';
  if (!mayChangePassword) return 'the user may not choose a password';
  return customers.length === 0 ? 'the user has no active customer' : null;
}
