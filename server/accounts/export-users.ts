import { type Keys, unseal } from '../crypto/keys.ts';
import type { Connection, Database } from '../database/database.ts';
import { totpPlace } from '../factors/registration.ts';
import { readStoredTotpSecret } from '../factors/totp.ts';
import { membershipsOf } from '../people/groups.ts';
import { importBatch } from './import-users.ts';
import type { ImportedUser } from './source-user.ts';

/** A line of an export; `lacksApp`: the app is left out, as it is sealed under a secret that is missing. */
type ExportedUser = { username: string; line: string; lacksApp: boolean };

/** Every user as JSON, which `readOwnFormat` reads again; with secrets if there are `keys` to open them. Memory: one batch. */
export async function* exportUsers(sql: Database, keys: Keys | null): AsyncGenerator<ExportedUser> {
  let after: string | null = null;
  for (;;) {
    const users: StoredUser[] = await listStoredUsers(sql, { after, most: importBatch });
    for (const { id, sealedTotp, passwordHash, ...user } of users) {
      const totp = keys && sealedTotp && unseal(keys.seal, sealedTotp, totpPlace(id));
      const secrets = keys && { ...(passwordHash !== null && { passwordHash }), ...(totp && wordsOfTotp(totp)) };
      const lacksApp = keys !== null && sealedTotp !== null && totp === null;
      yield { username: user.username, line: JSON.stringify({ ...user, ...secrets }), lacksApp };
    }
    if (users.length < importBatch) return;
    after = users.at(-1)?.id ?? null;
  }
}

function wordsOfTotp(stored: string) {
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
