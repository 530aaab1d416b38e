import type { Reading } from '../names/read-name.ts';
import { isRecord } from './is-record.ts';
import { readAuth0CustomHash } from './read-auth0-custom-hash.ts';
import { readPasswordHash } from './read-password-hash.ts';
import type { SourceRecord, SourceUser } from './source-user.ts';

/**
 * A user of Auth0: as its support exports them with `passwordHash`, or in the schema of its bulk import, with
 * `password_hash` or `custom_password_hash` and `mfa_factors`.
 */
export function readAuth0(record: SourceRecord): Reading<SourceUser> {
  const custom = record.custom_password_hash;
  const createdAt = isRecord(record.created_at) ? record.created_at.$date : record.created_at;
  return {
    kind: 'ok',
    value: {
      username: record.username,
      email: record.email,
      emailVerified: record.email_verified,
      active: !isBlocked(record.blocked),
      createdAt,
      passwordHash: custom
        ? readAuth0CustomHash(custom)
        : readPasswordHash(record.passwordHash ?? record.password_hash),
      totp: { secret: totpSecretOf(record.mfa_factors) },
    },
  };
}

/** Anything but a clear no blocks. */
function isBlocked(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '' && value !== false && value !== 'false';
}

function totpSecretOf(factors: unknown): unknown {
  if (!Array.isArray(factors)) return null;
  const apps = factors.filter(isRecord).map(({ totp }) => totp);
  return apps.find(isRecord)?.secret;
}
