import { randomUUID } from 'node:crypto';
import type { Keys } from '../crypto/keys.ts';
import { seal } from '../crypto/sealed.ts';
import type { Connection, Database } from '../database/database.ts';
import { RollBack } from '../database/database.ts';
import { totpPlace } from '../factors/registration.ts';
import { period } from '../factors/totp.ts';
import { foldsOfUser, lockLoginNames } from '../people/portal-user.ts';
import {
  insertAuditEvents,
  insertUsers,
  listCustomerKeysForShare,
  listUsersByFolds,
  type UserThere,
  type UserToInsert,
} from './imported-user.ts';
import type { ImportedUser } from './read-imported-user.ts';
import type { Refusal } from './read-value.ts';

export type BatchLine = { line: number; user: ImportedUser };
export type StoredBatch = { added: number; unchanged: number; refused: ({ line: number } & Refusal)[] };

/**
 * Adds the users of a batch in one transaction, so that a crash leaves all of them or none. A user who is there with the
 * same values counts as unchanged: running an import again continues it. One whose name is taken, or who differs, is
 * refused. With `seen` it is a dry run: nothing is stored, and the users of earlier batches are found there.
 */
export async function storeBatch(
  { sql, keys }: { sql: Database; keys: Keys },
  batch: readonly BatchLine[],
  { now, seen }: { now: Date; seen: Map<string, Compared> | null },
): Promise<StoredBatch> {
  return await sql.begin(async (sql) => {
    const { toAdd, ...outcome } = await sort(sql, batch, seen);
    if (seen) return new RollBack({ ...outcome, added: toAdd.length });
    const users = toAdd.map((user) => userToInsert(user, keys, now));
    await insertUsers(sql, users, { now, timeStep: Math.floor(now.getTime() / 1000 / period) });
    await insertAuditEvents(sql, users.map(eventOf), now);
    return { ...outcome, added: users.length };
  });
}

async function sort(
  sql: Connection,
  batch: readonly BatchLine[],
  seen: Map<string, Compared> | null,
): Promise<Omit<StoredBatch, 'added'> & { toAdd: ImportedUser[] }> {
  const outcome = { unchanged: 0, refused: [] as StoredBatch['refused'], toAdd: [] as ImportedUser[] };
  if (!seen) await lockLoginNames(sql);
  const customers = new Set(
    await listCustomerKeysForShare(sql, [...new Set(batch.flatMap(({ user }) => user.customers))]),
  );
  const there = seen ?? new Map<string, Compared>();
  for (const user of await listUsersByFolds(sql, [...new Set(batch.flatMap(({ user }) => foldsOfUser(user)))]))
    there.set(user.fold, user);
  for (const { line, user } of batch) {
    const unknown = user.customers.find((key) => !customers.has(key));
    const refusal = unknown
      ? { field: 'customers', reason: `there is no customer ${unknown}` }
      : differenceFrom(there, user);
    if (refusal === 'new') {
      outcome.toAdd.push(user);
      // The next lines meet it as if it were stored.
      const stored = comparedOf(user, `line ${line}`);
      for (const fold of foldsOfUser(user)) there.set(fold, stored);
    } else if (refusal === null) outcome.unchanged += 1;
    else outcome.refused.push({ line, ...refusal });
  }
  return outcome;
}

/** What a line is compared with, by folded name. */
export type Compared = Omit<UserThere, 'fold'>;

function comparedOf(user: ImportedUser, id: string): Compared {
  const { username, email, language, customers, active, mayChangePassword, passwordHash, totp } = user;
  const own = { id, username, email, language, customers, active, mayChangePassword };
  return { ...own, hasPassword: passwordHash !== null, hasApp: totp !== null };
}

/** `new` if both names are free, null if the user is there already, else why it cannot be taken over. */
function differenceFrom(there: ReadonlyMap<string, Compared>, user: ImportedUser): Refusal | 'new' | null {
  const [byUsername, byEmail] = foldsOfUser(user).map((fold) => there.get(fold));
  if (!byUsername && !byEmail) return 'new';
  if (!byUsername) return { field: 'email', reason: 'another user has it' };
  if (!byEmail || byUsername.id !== byEmail.id) return { field: 'username', reason: 'another user has it' };
  const fields = [
    ...comparedFields.filter((field) => String(byUsername[field]) !== String(user[field])),
    // What was set since is the user's own, but what is missing would be lost.
    ...(user.passwordHash !== null && !byUsername.hasPassword ? (['passwordHash'] as const) : []),
    ...(user.totp !== null && !byUsername.hasApp ? (['totp'] as const) : []),
  ];
  const [field] = fields;
  return field ? { field, reason: `the user is there already, with other values: ${fields.join(', ')}` } : null;
}

const comparedFields = ['username', 'email', 'language', 'customers', 'active', 'mayChangePassword'] as const;

function userToInsert({ totp, ...user }: ImportedUser, keys: Keys, now: Date): UserToInsert {
  const id = randomUUID();
  return {
    ...user,
    id,
    folds: foldsOfUser(user),
    createdAt: user.createdAt ?? now,
    sealedTotp: totp === null ? null : seal(keys.seal, totp, totpPlace(id)),
  };
}

function eventOf({ id, username, email, customers, passwordHash, sealedTotp, active }: UserToInsert) {
  const steps = [
    { step: 'email', outcome: email },
    { step: 'customers', outcome: customers.join(', ') || 'none' },
    { step: 'password', outcome: passwordHash === null ? 'none' : 'hash taken over' },
    ...(sealedTotp ? [{ step: 'authenticator app', outcome: 'taken over' }] : []),
    ...(active ? [] : [{ step: 'active', outcome: 'no' }]),
  ];
  return { event: 'user-imported', userId: id, username, steps } as const;
}
