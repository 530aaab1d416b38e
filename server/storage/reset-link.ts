import { admits } from './admits.ts';
import type { Connection } from './database.ts';
import { deleteInParts } from './delete-in-parts.ts';
import { isPasskeyRequiredOf, isPasskeyTakenOf, usablePasskeysOf } from './passkey-policy.ts';
import { rowOrNull } from './row-or-null.ts';
import { isSsoPossibleFor, isSsoRequiredOf } from './sso-domain.ts';

type ResetLinkState = 'open' | 'used' | 'withdrawn';

/** Why a link was made: an invitation asks for a first password, and never replaces one (docs/decisions/0053). */
export type LinkPurpose = 'reset' | 'invitation';

/** A link with its account, as one address may see it; `user` is null if the account is gone. */
export type ResetLink = { state: ResetLinkState; purpose: LinkPurpose; endsAt: Date; user: ResetUser | null };

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
  /** Those that can be used. */
  passkeys: number;
  /** Whether a customer takes passkeys, and whether one takes nothing else. */
  passkeyTaken: boolean;
  passkeyRequired: boolean;
  /** The active customers; `admits` says whether each one's networks allow the address. */
  customers: { key: string; name: string; admits: boolean }[];
};

/** From which address somebody looks at an account, and for which domain its passkeys are; null: for none. */
type Seen = { address: string; rpId: string | null };

const userColumns = (sql: Connection, { address, rpId }: Seen) => sql`
  u.id, u.username, u.email, u.language, u.active, u.may_change_password as "mayChangePassword",
  u.password_hash as "passwordHash", ${isSsoRequiredOf(sql, sql`u.id`)} as "ssoRequired",
  ${isSsoPossibleFor(sql, sql`u.id`)} as "ssoPossible",
  ${usablePasskeysOf(sql, sql`u.id`, rpId)} as passkeys, ${isPasskeyTakenOf(sql, sql`u.id`)} as "passkeyTaken",
  ${isPasskeyRequiredOf(sql, sql`u.id`)} as "passkeyRequired",
  (
    select coalesce(jsonb_agg(jsonb_build_object('key', c.key, 'name', c.name, 'admits',
      ${admits(sql, sql`c.allowed_networks`, address)}) order by c.key), '[]')
    from membership m join customer c on c.id = m.customer_id where m.user_id = u.id and c.active
  ) as customers`;

/** The link behind a token hash, or null if it is unknown or expired long ago. */
export async function findResetLink(sql: Connection, tokenHash: Buffer, seen: Seen): Promise<ResetLink | null> {
  const [row] = await sql<(Omit<ResetLink, 'user'> & Partial<ResetUser>)[]>`
    select l.state, l.purpose, l.ends_at as "endsAt", ${userColumns(sql, seen)}
    from reset_link l left join portal_user u on u.id = l.user_id where l.token_hash = ${tokenHash}`;
  if (!row) return null;
  const { state, purpose, endsAt, ...user } = row;
  return { state, purpose, endsAt, user: user.id ? (user as ResetUser) : null };
}

/** The user with a folded name, locked until the transaction ends; or null. */
export async function findResetUserForUpdate(sql: Connection, fold: string, seen: Seen) {
  return await rowOrNull(sql<ResetUser[]>`
    select ${userColumns(sql, seen)} from login_name n join portal_user u on u.id = n.user_id
    where n.fold = ${fold} for no key update of u`);
}

/** A link as its page needs it; `username` is null if the account is gone. */
export type ResetLinkPage = Omit<ResetLink, 'user'> &
  Pick<ResetUser, 'passkeyTaken' | 'passkeyRequired'> & { username: string | null; hasPassword: boolean };

/** What a link's page needs: its state, its purpose, its expiry, its owner, and what they may choose. */
export async function findResetLinkPage(sql: Connection, tokenHash: Buffer): Promise<ResetLinkPage | null> {
  return await rowOrNull(sql<ResetLinkPage[]>`
    select l.state, l.purpose, l.ends_at as "endsAt", u.username, u.password_hash is not null as "hasPassword",
      ${isPasskeyTakenOf(sql, sql`u.id`)} as "passkeyTaken", ${isPasskeyRequiredOf(sql, sql`u.id`)} as "passkeyRequired"
    from reset_link l left join portal_user u on u.id = l.user_id where l.token_hash = ${tokenHash}`);
}

export async function insertResetLink(
  sql: Connection,
  link: { tokenHash: Buffer; userId: string; purpose: LinkPurpose; madeAt: Date; endsAt: Date },
): Promise<void> {
  await sql`
    insert into reset_link (token_hash, user_id, purpose, made_at, ends_at)
    values (${link.tokenHash}, ${link.userId}, ${link.purpose}, ${link.madeAt}, ${link.endsAt})`;
}

/**
 * Consumes a link: its owner, or null if it was not open at `now`. Of concurrent calls one wins; the others wait and
 * lose.
 */
export async function spendResetLink(sql: Connection, tokenHash: Buffer, now: Date): Promise<string | null> {
  const [row] = await sql<{ userId: string }[]>`
    update reset_link set state = 'used'
    where token_hash = ${tokenHash} and state = 'open' and ends_at > ${now}
    returning user_id as "userId"`;
  return row?.userId ?? null;
}

/** Invalidates the open links of a user, or only those made for one purpose; returns how many. */
export async function withdrawLinksOfUser(
  sql: Connection,
  userId: string,
  purpose: LinkPurpose | null = null,
): Promise<number> {
  const { count } = await sql`
    update reset_link set state = 'withdrawn'
    where user_id = ${userId} and state = 'open' and purpose = coalesce(${purpose}, purpose)`;
  return count;
}

export async function isResetLinkOpen(sql: Connection, tokenHash: Buffer): Promise<boolean> {
  return (await sql`select from reset_link where token_hash = ${tokenHash} and state = 'open'`).length > 0;
}

/** Restarts the time of an open link, now that its email was sent. */
export async function updateResetLinkEnd(sql: Connection, tokenHash: Buffer, endsAt: Date): Promise<void> {
  await sql`update reset_link set ends_at = ${endsAt} where token_hash = ${tokenHash} and state = 'open'`;
}

/** How many links were made for a user since a time, invitations apart, and when the last one was. */
export async function countResetLinksSince(
  sql: Connection,
  userId: string,
  since: Date,
): Promise<{ count: number; lastAt: Date | null }> {
  const [row] = await sql<{ count: number; lastAt: Date | null }[]>`
    select count(*) as count, max(made_at) as "lastAt"
    from reset_link where user_id = ${userId} and made_at > ${since} and purpose = 'reset'`;
  return row ?? { count: 0, lastAt: null };
}

/** Deletes links that ended before a time; returns how many. */
export async function deleteOldResetLinks(sql: Connection, before: Date): Promise<number> {
  return await deleteInParts(sql, 'reset_link', sql`ends_at < ${before}`);
}
