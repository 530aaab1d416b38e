import type { Reading } from '../names/read-name.ts';
import { readForeignHash } from '../secrets/foreign-hash.ts';
import { checkedHash } from './checked-hash.ts';
import { isRecord } from './is-record.ts';
import { refusedValue } from './refusal.ts';
import type { SourceRecord, SourceUser, TotpOfSource } from './source-user.ts';
import { numberOf, textOf } from './text-of.ts';

/** A user of a realm export. Of several passwords or apps the first counts; other credentials are not taken over. */
export function readKeycloak(record: SourceRecord): Reading<SourceUser> {
  if (record.serviceAccountClientId) return refusedValue('line', 'is the service account of a client, not a person');
  const credentials = Array.isArray(record.credentials) ? record.credentials.filter(isRecord) : [];
  const ofType = (type: string) => credentials.find((credential) => credential.type === type);
  const totp = readOtp(ofType('otp'));
  if (totp.kind === 'refused') return totp;
  return {
    kind: 'ok',
    value: {
      username: record.username,
      email: record.email,
      emailVerified: record.emailVerified,
      active: record.enabled,
      createdAt: record.createdTimestamp,
      language: first(isRecord(record.attributes) ? record.attributes.locale : undefined),
      passwordHash: readPassword(ofType('password')),
      totp: totp.value,
    },
  };
}

function readPassword(credential: SourceRecord | undefined): Reading<string | null> {
  if (!credential) return { kind: 'ok', value: null };
  const data = parsed(credential.credentialData);
  const secret = parsed(credential.secretData);
  if (!data || !secret || typeof secret.value !== 'string' || typeof secret.salt !== 'string')
    return refusedValue('passwordHash', 'has no credentialData and secretData as Keycloak 8 and later write them');
  const [salt, key] = [secret.salt, secret.value].map((text) => Buffer.from(text, 'base64')) as [Buffer, Buffer];
  const rounds = numberOf(data.hashIterations);
  if (!Number.isSafeInteger(rounds) || rounds < 1) return refusedValue('passwordHash', 'has no hashIterations');
  const digest = digestsOfAlgorithms[textOf(data.algorithm)];
  if (digest) return checkedHash({ kind: 'pbkdf2', digest, rounds, salt, key, encoding: 'utf8' });
  if (data.algorithm !== 'argon2')
    return refusedValue(
      'passwordHash',
      `${JSON.stringify(textOf(data.algorithm).slice(0, 40))} cannot be verified here`,
    );
  const argon2 = readForeignHash(argon2Text(data, rounds, salt, key));
  return argon2 ? checkedHash(argon2) : refusedValue('passwordHash', 'has parameters of argon2 that are not known');
}

const digestsOfAlgorithms: Record<string, 'sha1' | 'sha256' | 'sha512' | undefined> = {
  pbkdf2: 'sha1',
  'pbkdf2-sha256': 'sha256',
  'pbkdf2-sha512': 'sha512',
};

function argon2Text(data: SourceRecord, passes: number, salt: Buffer, key: Buffer): string {
  const more = isRecord(data.additionalParameters) ? data.additionalParameters : {};
  const version = { '1.3': 19, '1.0': 16 }[textOf(first(more.version) ?? '1.3')];
  const base64 = (bytes: Buffer) => bytes.toString('base64').replaceAll('=', '');
  const type = textOf(first(more.type) ?? 'id');
  return `$argon2${type}$v=${version}$m=${textOf(first(more.memory))},t=${passes},p=${textOf(first(more.parallelism))}$${base64(salt)}$${base64(key)}`;
}

/** Without an encoding the letters of the secret are its bytes. */
function readOtp(credential: SourceRecord | undefined): Reading<TotpOfSource | null> {
  if (!credential) return { kind: 'ok', value: null };
  const data = parsed(credential.credentialData);
  const secret = parsed(credential.secretData);
  if (!data || typeof secret?.value !== 'string') return refusedValue('totp', 'has no secretData and credentialData');
  if (data.subType !== 'totp') return refusedValue('totp', 'counts codes instead of time (HOTP)');
  const isBase32 = textOf(data.secretEncoding).toUpperCase() === 'BASE32';
  if (data.secretEncoding && !isBase32) return refusedValue('totp', 'has an encoding of the secret that is not known');
  const { algorithm, digits, period } = data;
  return {
    kind: 'ok',
    value: { secret: isBase32 ? secret.value : Buffer.from(secret.value), algorithm, digits, period },
  };
}

/** Keycloak stores the parts of a credential as JSON within JSON. */
function parsed(value: unknown): SourceRecord | null {
  if (isRecord(value)) return value;
  if (typeof value !== 'string') return null;
  try {
    const data: unknown = JSON.parse(value);
    return isRecord(data) ? data : null;
  } catch {
    return null;
  }
}

function first(value: unknown): unknown {
  return Array.isArray(value) ? value[0] : value;
}
