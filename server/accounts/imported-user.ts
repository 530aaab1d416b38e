import type { Language } from '#contract/languages.ts';
import type { AuditEvent } from '../audit/audit-events.ts';
import type { Connection } from '../database/database.ts';
import { limits } from '../limits.ts';

/** A user of an import with everything that belongs to it, checked; hashes of earlier passwords newest first. */
export type UserToInsert = {
  id: string;
  username: string;
  email: string;
  folds: string[];
  language: Language | null;
  customers: string[];
  active: boolean;
  mayChangePassword: boolean;
  createdAt: Date;
  passwordHash: string | null;
  formerPasswordHashes: string[];
  sealedTotp: Buffer | null;
};

/** What an import compares of a user who is there already, under one of its folded names. */
export type UserThere = Pick<
  UserToInsert,
  'id' | 'username' | 'email' | 'language' | 'customers' | 'active' | 'mayChangePassword'
> & { fold: string; hasPassword: boolean; hasApp: boolean };

/** The users who have any of these folded names, once for each name. */
export async function listUsersByFolds(sql: Connection, folds: readonly string[]): Promise<UserThere[]> {
  return await sql<UserThere[]>`
    select n.fold, u.id, u.username, u.email, u.language, u.active, u.may_change_password as "mayChangePassword",
      u.password_hash is not null as "hasPassword",
      exists (select from totp where totp.user_id = u.id) as "hasApp",
      array(
        select c.key from membership m join customer c on c.id = m.customer_id where m.user_id = u.id order by c.key
      ) as customers
    from login_name n join portal_user u on u.id = n.user_id where n.fold = any(${folds as string[]}::text[])`;
}

/** Those of the keys that customers have; they stay until the transaction ends. */
export async function listCustomerKeysForShare(sql: Connection, keys: readonly string[]): Promise<string[]> {
  const rows = await sql<{ key: string }[]>`
    select key from customer where key = any(${keys as string[]}::text[]) order by id for key share`;
  return rows.map(({ key }) => key);
}

/**
 * Adds users with names, memberships, former passwords and apps. The caller has locked the login names and seen that
 * these are free. Codes of the current time step, which the other system may have accepted, are not accepted again.
 */
export async function insertUsers(
  sql: Connection,
  users: readonly UserToInsert[],
  { now, timeStep }: { now: Date; timeStep: number },
): Promise<void> {
  if (users.length === 0) return;
  const rows = users.map(({ sealedTotp, createdAt, ...user }) => ({
    ...user,
    createdAt: createdAt.toISOString(),
    sealedTotp: sealedTotp?.toString('hex') ?? null,
    formerPasswordHashes: user.formerPasswordHashes.slice(0, limits.passwordsRemembered - 1).reverse(),
  }));
  await sql`
    with given as materialized (
      select * from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r (id uuid, username text, email text, folds text[],
        language text, customers text[], active boolean, "mayChangePassword" boolean, "createdAt" timestamptz,
        "passwordHash" text, "formerPasswordHashes" text[], "sealedTotp" text)
    ),
    users as (
      insert into portal_user (id, username, email, password_hash, active, may_change_password, language, created_at)
      select id, username, email, "passwordHash", active, "mayChangePassword", language, "createdAt" from given
    ),
    names as (
      insert into login_name (fold, user_id) select distinct fold, id from given, unnest(folds) as fold
    ),
    members as (
      insert into membership (user_id, customer_id)
      select given.id, c.id from given, unnest(customers) as asked (key) join customer c using (key)
    ),
    former as (
      insert into former_password (user_id, password_hash, replaced_at)
      select id, hash, ${now} from given, unnest("formerPasswordHashes") with ordinality as f (hash, place)
      order by id, place
    )
    insert into totp (user_id, sealed_secret, last_step, confirmed_at)
    select id, decode("sealedTotp", 'hex'), ${timeStep}, ${now} from given where "sealedTotp" is not null`;
}

/** Records events, in order. */
export async function insertAuditEvents(sql: Connection, events: readonly AuditEvent[], now: Date): Promise<void> {
  if (events.length === 0) return;
  await sql`
    insert into audit_event (at, event, user_id, username, steps)
    select ${now}, event, "userId", username, steps
    from jsonb_to_recordset(${JSON.stringify(events)}::jsonb)
      as r (event text, "userId" uuid, username text, steps jsonb)`;
}
