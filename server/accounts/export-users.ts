import type { Keys } from '../crypto/keys.ts';
import { unseal } from '../crypto/keys.ts';
import type { Connection, Database } from '../database/database.ts';
import { totpPlace } from '../factors/registration.ts';
import { readStoredTotpSecret } from '../factors/totp.ts';
import { membershipsOf } from '../people/groups.ts';
import { importBatch } from './import-users.ts';
import type { ImportedUser } from './read-imported-user.ts';

type ExportOptions = {
  /** Whether password hashes and the secrets of apps are in it. */
  withSecrets: boolean;
  /** Called for a user whose app is sealed under a secret that is missing: it is left out. */
  onUnreadable: (username: string) => void;
};

/** Every user, one JSON text each, which `readOwnFormat` reads again. Memory: one batch. */
export async function* exportUsers(
  { sql, keys }: { sql: Database; keys: Keys },
  { withSecrets, onUnreadable }: ExportOptions,
): AsyncGenerator<string> {
  let after: string | null = null;
  for (;;) {
    const users: StoredUser[] = await listStoredUsers(sql, { after, most: importBatch });
    for (const user of users) yield JSON.stringify(lineOf(user, withSecrets ? keys : null, onUnreadable));
    if (users.length < importBatch) return;
    after = users.at(-1)?.id ?? null;
  }
}

function lineOf(user: StoredUser, keys: Keys | null, onUnreadable: (username: string) => void) {
  const { username, email, name, language, customers, groups, active, mayChangePassword, createdAt } = user;
  const line = { username, email, name, language, customers, groups, active, mayChangePassword, createdAt };
  if (!keys) return line;
  const { passwordHash } = user;
  return { ...line, ...(passwordHash !== null && { passwordHash }), ...totpOf(user, keys, onUnreadable) };
}

function totpOf({ id, username, sealedTotp }: StoredUser, keys: Keys, onUnreadable: (username: string) => void) {
  if (!sealedTotp) return {};
  const stored = unseal(keys.seal, sealedTotp, totpPlace(id));
  if (stored === null) {
    onUnreadable(username);
    return {};
  }
  const { secret, algorithm } = readStoredTotpSecret(stored);
  return { totpSecret: secret, ...(algorithm !== 'sha1' && { totpAlgorithm: algorithm.toUpperCase() }) };
}

type StoredUser = Omit<ImportedUser, 'totp'> & { id: string; sealedTotp: Buffer | null };

/** The next users by id, at most `most`; all of them in as many calls as it takes. */
async function listStoredUsers(
  sql: Connection,
  { after, most }: { after: string | null; most: number },
): Promise<StoredUser[]> {
  return await sql<StoredUser[]>`
    select u.id, u.username, u.email, u.name, u.language, u.active, u.may_change_password as "mayChangePassword",
      u.created_at as "createdAt", u.password_hash as "passwordHash", t.sealed_secret as "sealedTotp",
      ${membershipsOf(sql)}
    from portal_user u left join totp t on t.user_id = u.id
    where ${after}::uuid is null or u.id > ${after}::uuid
    order by u.id limit ${most}`;
}
