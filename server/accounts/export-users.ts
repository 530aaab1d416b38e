import type { Keys } from '../crypto/keys.ts';
import { unseal } from '../crypto/sealed.ts';
import type { Database } from '../database/database.ts';
import { totpPlace } from '../factors/registration.ts';
import { readStoredTotpSecret } from '../factors/totp.ts';
import { listStoredUsers, type StoredUser } from './exported-user.ts';
import { importBatch } from './import-users.ts';

export type ExportOptions = {
  /** Whether password hashes and the secrets of apps are in it. */
  withSecrets: boolean;
  customerKey: string | null;
  /** Called for a user whose app is sealed under a secret that is missing: it is left out. */
  onUnreadable: (username: string) => void;
};

/** Every user, one JSON text each, which `readVestibule` reads again. Memory: one batch. */
export async function* exportUsers(
  { sql, keys }: { sql: Database; keys: Keys },
  { withSecrets, customerKey, onUnreadable }: ExportOptions,
): AsyncGenerator<string> {
  let after: string | null = null;
  for (;;) {
    const users: StoredUser[] = await listStoredUsers(sql, { after, most: importBatch, customerKey });
    for (const user of users) yield JSON.stringify(lineOf(user, withSecrets ? keys : null, onUnreadable));
    if (users.length < importBatch) return;
    after = users.at(-1)?.id ?? null;
  }
}

function lineOf(user: StoredUser, keys: Keys | null, onUnreadable: (username: string) => void) {
  const { username, email, language, customers, active, mayChangePassword, createdAt } = user;
  const line = { username, email, ...(language && { language }), customers, active, mayChangePassword, createdAt };
  if (!keys) return line;
  const { passwordHash, formerPasswordHashes } = user;
  return {
    ...line,
    ...(passwordHash !== null && { passwordHash }),
    ...(formerPasswordHashes.length > 0 && { formerPasswordHashes }),
    ...totpOf(user, keys, onUnreadable),
  };
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
