import type { Reading } from '../names/read-name.ts';
import { readPasswordHash } from './read-password-hash.ts';
import { isGiven, isRecord, refusedValue, type SourceRecord, textOf } from './read-value.ts';
import type { SourceUser } from './source-user.ts';

/**
 * A user of Auth0: as its support exports them with `passwordHash`, or in the schema of its bulk import, with
 * `password_hash` or `custom_password_hash` and `mfa_factors`.
 */
export function readAuth0(record: SourceRecord): Reading<SourceUser> {
  const custom = record.custom_password_hash;
  return {
    kind: 'ok',
    value: {
      username: record.username,
      email: record.email,
      emailVerified: record.email_verified,
      // Anything but a clear no blocks.
      active: !isGiven(record.blocked) || textOf(record.blocked) === 'false',
      createdAt: isRecord(record.created_at) ? record.created_at.$date : record.created_at,
      passwordHash: isGiven(custom)
        ? readCustomHash(custom)
        : readPasswordHash(record.passwordHash ?? record.password_hash),
      totp: { secret: totpSecretOf(record.mfa_factors) },
    },
  };
}

/** Argon2 and PBKDF2 as PHC strings, bcrypt as crypt's. Plain digests protect nothing once they are copied. */
function readCustomHash(custom: unknown): Reading<string | null> {
  if (!isRecord(custom) || !isRecord(custom.hash) || typeof custom.hash.value !== 'string')
    return refusedValue('passwordHash', 'custom_password_hash has no hash.value');
  const algorithm = textOf(custom.algorithm);
  if (!['argon2', 'bcrypt', 'pbkdf2'].includes(algorithm))
    return refusedValue('passwordHash', `${JSON.stringify(algorithm.slice(0, 40))} cannot be verified here`);
  const encoding = isRecord(custom.password) ? textOf(custom.password.encoding ?? 'utf8') : 'utf8';
  if (encoding !== 'utf8') return refusedValue('passwordHash', 'is verified here for passwords in UTF-8 only');
  return readPasswordHash(custom.hash.value);
}

function totpSecretOf(factors: unknown): unknown {
  if (!Array.isArray(factors)) return null;
  const apps = factors.filter(isRecord).map(({ totp }) => totp);
  return apps.find(isRecord)?.secret;
}
