import { randomUUID } from 'node:crypto';
import { type AuditEvent, type By, whoseEvent } from '../audit/audit-events.ts';
import { type Keys, seal } from '../crypto/keys.ts';
import { type Connection, type Database, RollBack } from '../database/database.ts';
import { totpPlace } from '../factors/registration.ts';
import { namesWithin } from '../people/groups.ts';
import { foldsOfUser, listFoldsOfOthers, listUsersByFolds, lockLoginNames, type User } from '../people/portal-user.ts';
import type { RefusedLine } from './read-records.ts';
import type { ImportedUser, SourceRecord } from './source-user.ts';
import { newUserInWords } from './users.ts';

export type BatchLine = { line: number; record: SourceRecord; user: ImportedUser };
export type StoredBatch = { added: number; unchanged: number; refused: RefusedLine[] };

/**
 * Adds the users of a batch in one transaction, so that a crash leaves all of them or none. A user who is there with the
 * same values counts as unchanged: running an import again continues it. One whose name is taken, or who differs, is
 * refused. With `seen` it is a dry run: nothing is stored, and the users of earlier batches are found there. At the desk
 * nothing is said of others' people but that a name is taken.
 */
export async function storeBatch(
  { sql, keys, actor }: { sql: Database; keys: Keys; actor: string },
  batch: readonly BatchLine[],
  { now, seen, atDesk }: { now: Date; seen: Map<string, Compared> | null; atDesk: boolean },
): Promise<StoredBatch> {
  return await sql.begin(async (sql) => {
    const { toAdd, ...outcome } = await sort(sql, batch, { seen, atDesk });
    if (seen) return new RollBack({ ...outcome, added: toAdd.length });
    const users = toAdd.map((user) => userToInsert(user, keys));
    await insertUsers(sql, users, now);
    await insertAuditEvents(sql, users.map(eventOf), { actor, now });
    return { ...outcome, added: users.length };
  });
}

async function sort(
  sql: Connection,
  batch: readonly BatchLine[],
  { seen, atDesk }: { seen: Map<string, Compared> | null; atDesk: boolean },
): Promise<Omit<StoredBatch, 'added'> & { toAdd: ImportedUser[] }> {
  const outcome = { unchanged: 0, refused: [] as RefusedLine[], toAdd: [] as ImportedUser[] };
  if (!seen) await lockLoginNames(sql);
  const keys = [...new Set(batch.flatMap(({ user }) => user.customers))];
  // They stay until the transaction ends.
  const customers = await sql<{ key: string }[]>`
    select key from customer where key = any(${keys}::text[]) order by id for key share`;
  const there = seen ?? new Map<string, Compared>();
  const folds = [...new Set(batch.flatMap(({ user }) => foldsOfUser(user)))];
  for (const user of await listUsersByFolds(sql, folds)) there.set(user.fold, user);
  const others = atDesk ? await listFoldsOfOthers(sql, folds) : new Set<string>();
  for (const { user, ...entry } of batch) {
    const unknown = user.customers.find((asked) => !customers.some(({ key }) => key === asked));
    const taken = foldsOfUser(user).findIndex((fold) => others.has(fold));
    const problem = unknown
      ? `customers: there is no customer ${unknown}`
      : (takenProblems[taken] ?? differenceFrom(there, user));
    if (problem === 'new') {
      outcome.toAdd.push(user);
      // The next lines meet it as if it were stored.
      const { passwordHash, totp } = user;
      const stored = { ...user, id: `line ${entry.line}`, hasPassword: passwordHash !== null, hasApp: totp !== null };
      for (const fold of foldsOfUser(user)) there.set(fold, stored);
    } else if (problem === null) outcome.unchanged += 1;
    else outcome.refused.push({ ...entry, problem });
  }
  return outcome;
}

/** What a line is compared with, by folded name: a user who is there, or an earlier line. */
export type Compared = Pick<User, (typeof comparedFields)[number] | 'id' | 'hasPassword' | 'hasApp'>;

/** In the order of a user's folded names. */
const takenProblems = ['username: another user has it', 'email: another user has it'] as const;

/** `new` if both names are free, null if the user is there already, else why it cannot be taken over. */
function differenceFrom(there: ReadonlyMap<string, Compared>, user: ImportedUser): string | null {
  const [byUsername, byEmail] = foldsOfUser(user).map((fold) => there.get(fold));
  if (!byUsername && !byEmail) return 'new';
  if (!byUsername) return takenProblems[1];
  if (!byEmail || byUsername.id !== byEmail.id) return takenProblems[0];
  const fields = [
    ...comparedFields.filter((field) => {
      const value = String(user[field] ?? '');
      // What the file leaves empty, the user or their provider may have set since.
      return value !== '' && value !== String(byUsername[field] ?? '');
    }),
    // What was set since is the user's own, but what is missing would be lost.
    ...(user.passwordHash !== null && !byUsername.hasPassword ? (['passwordHash'] as const) : []),
    ...(user.totp !== null && !byUsername.hasApp ? (['totp'] as const) : []),
  ];
  const [field] = fields;
  return field ? `${field}: the user is there already, with other values: ${fields.join(', ')}` : null;
}

const comparedFields = [
  ...(['username', 'email', 'name', 'language', 'customers', 'groups', 'active', 'mayChangePassword'] as const),
];

type UserToInsert = ReturnType<typeof userToInsert>;

function userToInsert({ totp, ...user }: ImportedUser, keys: Keys) {
  const id = randomUUID();
  const sealedTotp = totp && seal(keys.seal, totp, totpPlace(id)).toString('hex');
  return { ...user, id, folds: foldsOfUser(user), sealedTotp };
}

function eventOf({ sealedTotp, ...user }: UserToInsert) {
  const app = sealedTotp ? [{ step: 'authenticator app', outcome: 'taken over' }] : [];
  const steps = [...newUserInWords(user, 'hash taken over'), ...app];
  return { event: 'user-imported', ...whoseEvent(user), steps } as const;
}

/** Adds users with names, memberships and apps. The caller has locked the login names and seen that these are free. */
async function insertUsers(sql: Connection, users: readonly UserToInsert[], now: Date): Promise<void> {
  if (users.length === 0) return;
  await sql`
    with given as materialized (
      select * from jsonb_to_recordset(${JSON.stringify(users)}::jsonb) as r (id uuid, username text, email text, name text,
        folds text[], language text, customers text[], groups text[], active boolean, "mayChangePassword" boolean, "createdAt" timestamptz,
        "passwordHash" text, "sealedTotp" text)
    ),
    users as (
      insert into portal_user (id, username, email, name, password_hash, active, may_change_password, language, created_at)
      select id, username, email, name, "passwordHash", active, "mayChangePassword", language, "createdAt" from given
    ),
    names as (
      insert into login_name (fold, user_id) select distinct fold, id from given, unnest(folds) as fold
    ),
    members as (
      insert into membership (user_id, customer_id, groups)
      select given.id, c.id, ${namesWithin(sql, sql`given.groups`)} from given, unnest(customers) as asked (key) join customer c using (key)
    )
    insert into totp (user_id, sealed_secret, last_step, confirmed_at)
    select id, decode("sealedTotp", 'hex'), 0, ${now} from given where "sealedTotp" is not null`;
}

/** Records events, in order. */
async function insertAuditEvents(sql: Connection, events: readonly AuditEvent[], { actor, now }: By): Promise<void> {
  if (events.length === 0) return;
  await sql`
    insert into audit_event (at, event, user_id, username, customer_key, steps, actor)
    select ${now}, event, "userId", username, "customerKey", steps, ${actor}
    from jsonb_to_recordset(${JSON.stringify(events)}::jsonb)
      as r (event text, "userId" uuid, username text, "customerKey" text, steps jsonb)`;
}
