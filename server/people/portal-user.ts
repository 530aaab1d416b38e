import { randomUUID } from 'node:crypto';
import type { DeskRole } from '#contract/desk.ts';
import type { Language } from '#contract/languages.ts';
import { type Connection, rowOrNull } from '../database/database.ts';
import { foldLoginName } from '../names/read-name.ts';
import { membershipsOf } from './groups.ts';

export type User = {
  id: string;
  username: string;
  email: string;
  /** As it is shown; null: the username is. */
  name: string | null;
  hasPassword: boolean;
  hasApp: boolean;
  passkeys: number;
  active: boolean;
  mayChangePassword: boolean;
  /** Null: as the browser says. */
  language: Language | null;
  /** At the desk, for every customer. */
  role: DeskRole | null;
  /** Keys, sorted. */
  customers: string[];
  /** Keys of those that they look after at the desk, sorted. */
  administers: string[];
  /** Such as `acme:finance`, sorted. */
  groups: string[];
  createdAt: Date;
};

export type NewUser = Pick<User, 'username' | 'email' | 'active' | 'mayChangePassword' | 'language'> &
  Partial<Pick<User, 'name' | 'role'>> & { passwordHash: string | null };

/** Absent means unchanged. */
export type UserChanges = Partial<NewUser>;

const columns = (sql: Connection) => sql`
  u.id, u.username, u.email, u.name, u.password_hash is not null as "hasPassword",
  exists (select from totp where totp.user_id = u.id) as "hasApp",
  (select count(*)::int from passkey where passkey.user_id = u.id) as passkeys, u.active,
  u.may_change_password as "mayChangePassword", u.language, u.role, u.created_at as "createdAt",
  ${membershipsOf(sql)},
  array(
    select c.key from membership m join customer c on c.id = m.customer_id
    where m.user_id = u.id and m.administers order by c.key
  ) as administers`;

/** Adds only the user; login names and memberships are written separately in the same transaction. */
export async function insertUser(sql: Connection, user: NewUser, now: Date): Promise<string> {
  const id = randomUUID();
  await sql`
    insert into portal_user (id, username, email, name, password_hash, active, may_change_password, language, role, created_at)
    values (${id}, ${user.username}, ${user.email}, ${user.name ?? null}, ${user.passwordHash}, ${user.active},
      ${user.mayChangePassword}, ${user.language}, ${user.role ?? null}, ${now})`;
  return id;
}

/** The user with a folded username or email, or null. */
export async function findUser(sql: Connection, fold: string) {
  return await rowOrNull(sql<User[]>`
    select ${columns(sql)} from login_name n join portal_user u on u.id = n.user_id where n.fold = ${fold}`);
}

/** The users who have any of these folded names, once for each name. */
export async function listUsersByFolds(
  sql: Connection,
  folds: readonly string[],
): Promise<(User & { fold: string })[]> {
  return await sql<(User & { fold: string })[]>`
    select n.fold, ${columns(sql)} from login_name n join portal_user u on u.id = n.user_id
    where n.fold = any(${folds as string[]}::text[])`;
}

/** The user with a folded name, locked until the transaction ends: read after the lock, with the memberships of that moment. */
export async function findUserForUpdate(sql: Connection, fold: string) {
  await sql`select from login_name n join portal_user u on u.id = n.user_id where n.fold = ${fold} for no key update of u`;
  return await findUser(sql, fold);
}

/** The same by its id. */
export async function findUserByIdForUpdate(sql: Connection, id: string) {
  await lockUser(sql, id);
  return await rowOrNull(sql<User[]>`select ${columns(sql)} from portal_user u where u.id = ${id}`);
}

/** Whether a user is the only active operator. Who takes the role from one waits here for whoever does so at the same time. */
export async function isLastOperator(sql: Connection, { id, role, active }: User): Promise<boolean> {
  if (role !== 'operator' || !active) return false;
  await sql`select pg_advisory_xact_lock(hashtext('vestibule operators'))`;
  const others = await sql`select from portal_user where role = 'operator' and active and id <> ${id} limit 1`;
  return others.length === 0;
}

/** Users by username, of one customer if its key is given; `contains` matches any of the names, case-insensitively. */
export async function listUsers(
  sql: Connection,
  { customerKey, contains, limit }: { customerKey?: string; contains?: string; limit: number },
): Promise<User[]> {
  return await sql<User[]>`
    select ${columns(sql)} from portal_user u
    where (${contains ?? null}::text is null or position(lower(${contains ?? ''}) in lower(concat_ws(' ', u.username, u.email, u.name))) > 0)
      and (${customerKey ?? null}::text is null or exists (
        select from membership m join customer c on c.id = m.customer_id where m.user_id = u.id and c.key = ${customerKey ?? null}))
    order by u.username, u.id limit ${limit}`;
}

export async function updateUser(sql: Connection, id: string, changes: UserChanges): Promise<void> {
  const { username, email, name, active, mayChangePassword, language, role, passwordHash } = changes;
  await sql`
    update portal_user set
      username = coalesce(${username ?? null}, username),
      email = coalesce(${email ?? null}, email),
      name = case when ${name !== undefined} then ${name ?? null} else name end,
      active = coalesce(${active ?? null}, active),
      may_change_password = coalesce(${mayChangePassword ?? null}, may_change_password),
      language = case when ${language !== undefined} then ${language ?? null} else language end,
      role = case when ${role !== undefined} then ${role ?? null} else role end,
      password_hash = case when ${passwordHash !== undefined} then ${passwordHash ?? null} else password_hash end
    where id = ${id}`;
}

/** Stores how a user is shown, unless another customer than this shows them too; returns whether that is a change. */
export async function updateNameOfOnly(
  sql: Connection,
  id: string,
  customerId: string,
  name: string | null,
): Promise<boolean> {
  const rows = await sql`
    update portal_user u set name = ${name}
    where u.id = ${id} and u.name is distinct from ${name}
      and not exists (select from membership m where m.user_id = u.id and m.customer_id <> ${customerId})
    returning id`;
  return rows.length > 0;
}

/** The stored hash of a user's password, or null. */
export async function findPasswordHash(sql: Connection, id: string): Promise<string | null> {
  const [row] = await sql<{ hash: string | null }[]>`select password_hash as hash from portal_user where id = ${id}`;
  return row?.hash ?? null;
}

/** Replaces a password hash if it is still `before` (null: none) and the user may have one; whether it did. */
export async function updatePasswordHash(
  sql: Connection,
  id: string,
  before: string | null,
  after: string,
): Promise<boolean> {
  const { count } = await sql`
    update portal_user set password_hash = ${after}
    where id = ${id} and password_hash is not distinct from ${before} and active and may_change_password`;
  return count > 0;
}

/** Locks a user until the transaction ends. The statements that follow see what was stored before. */
export async function lockUser(sql: Connection, id: string): Promise<void> {
  await sql`select from portal_user where id = ${id} for no key update`;
}

/**
 * An active user, null for any other; blocks their sign-ins until the transaction ends. The statements that follow see
 * what earlier sign-ins stored, and waiting sign-ins see what this transaction changes.
 */
export async function findActiveUserForChange(sql: Connection, id: string) {
  return await rowOrNull(sql<Pick<User, 'id' | 'username' | 'email' | 'language'>[]>`
    select id, username, email, language from portal_user where id = ${id} and active for no key update`);
}

/** Stores the same password with a newer hash, unless it was replaced meanwhile. */
export async function updateOutdatedHash(sql: Connection, id: string, before: string, after: string): Promise<void> {
  await sql`update portal_user set password_hash = ${after} where id = ${id} and password_hash = ${before}`;
}

/** Removes a user with everything that belongs to it: names, memberships, sessions, devices. Lock the user first. */
export async function deleteUser(sql: Connection, id: string): Promise<void> {
  await sql`delete from portal_user where id = ${id}`;
}

/** Blocks other writers of names until the transaction ends: the primary key would refuse a duplicate by an error only. */
export async function lockLoginNames(sql: Connection): Promise<void> {
  await sql`lock table login_name in share row exclusive mode`;
}

/** Those of the folded names that belong to a user other than `userId`. */
async function listTakenFolds(sql: Connection, folds: readonly string[], userId: string | null): Promise<string[]> {
  const rows = await sql<{ fold: string }[]>`
    select fold from login_name where fold = any(${folds as string[]}::text[]) and user_id is distinct from ${userId}`;
  return rows.map(({ fold }) => fold);
}

/** Those of the folded names whose user belongs not only to customers of the desk's scope (database/desk-role.ts). */
export async function listFoldsOfOthers(sql: Connection, folds: readonly string[]): Promise<Set<string>> {
  const rows = await sql<{ fold: string }[]>`
    select fold from login_name n where fold = any(${folds as string[]}::text[])
      and not (exists (select from membership m where m.user_id = n.user_id) and is_desks_alone(n.user_id))`;
  return new Set(rows.map(({ fold }) => fold));
}

/** Gives a user exactly these folded names; a username equal to the email counts once. */
export async function updateLoginNames(sql: Connection, userId: string, folds: readonly string[]): Promise<void> {
  await sql`delete from login_name where user_id = ${userId} and fold <> all(${folds as string[]}::text[])`;
  await sql`
    insert into login_name (fold, user_id)
    select distinct asked.fold, ${userId}::uuid from unnest(${folds as string[]}::text[]) as asked (fold)
    where not exists (select from login_name own where own.fold = asked.fold and own.user_id = ${userId})`;
}

/** The folded names that a user signs in with. */
export function foldsOfUser(user: { username: string; email: string }): string[] {
  return [foldLoginName(user.username), foldLoginName(user.email)];
}

/** Which of a user's two names somebody else has, the username first; null if both are free. */
export async function takenField(
  sql: Connection,
  user: { username: string; email: string },
  userId: string | null,
): Promise<'username' | 'email' | null> {
  const taken = await listTakenFolds(sql, foldsOfUser(user), userId);
  if (taken.includes(foldLoginName(user.username))) return 'username';
  return taken.length > 0 ? 'email' : null;
}
