import type { Reading } from '../names/read-name.ts';
import { readPasswordHash } from './read-credentials.ts';
import {
  isGiven,
  isRecord,
  type ReadSource,
  refusedValue,
  type SourceRecord,
  type SourceUser,
  textOf,
} from './source-user.ts';

/** The systems whose exports can be imported. */
export const sourceNames = ['vestibule', 'django', 'aspnet', 'keycloak', 'auth0', 'firebase'] as const;
export type SourceName = (typeof sourceNames)[number];

/** What reads the exports of a system; `firebaseConfig` is the path of a file. */
export async function openImportSource(
  name: SourceName,
  { firebaseConfig, now }: { firebaseConfig?: string; now: () => Date },
): Promise<Reading<ReadSource>> {
  switch (name) {
    case 'vestibule':
      return { kind: 'ok', value: (await import('./export-users.ts')).readVestibule };
    case 'django':
      return { kind: 'ok', value: readDjango };
    case 'aspnet':
      return { kind: 'ok', value: (await import('./aspnet-source.ts')).readAspnet(now) };
    case 'keycloak':
      return { kind: 'ok', value: (await import('./keycloak-source.ts')).readKeycloak };
    case 'auth0':
      return { kind: 'ok', value: readAuth0 };
    case 'firebase': {
      const { readFirebase, readFirebaseConfig } = await import('./firebase-source.ts');
      const config = firebaseConfig === undefined ? null : await readFirebaseConfig(firebaseConfig);
      if (config?.kind === 'refused') return config;
      return { kind: 'ok', value: readFirebase(config?.value ?? null) };
    }
  }
}

/** A line of `manage.py dumpdata auth.user --format jsonl`: the model, the key, and the fields of the user. */
export function readDjango({ fields, model }: SourceRecord): Reading<SourceUser> {
  if (!isRecord(fields) || !('password' in fields)) {
    const what = JSON.stringify((textOf(model) || 'something else').slice(0, 100));
    return refusedValue('line', `is not a user, but ${what}`);
  }
  return {
    kind: 'ok',
    value: {
      username: fields.username,
      email: fields.email,
      active: fields.is_active,
      createdAt: fields.date_joined,
      passwordHash: readPasswordHash(fields.password),
    },
  };
}

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
