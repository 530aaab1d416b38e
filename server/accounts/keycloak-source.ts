import { languageOfTag } from '#contract/languages.ts';
import { readForeignHash } from '../crypto/foreign-hash.ts';
import type { Reading } from '../names/read-name.ts';
import { checkedHash } from './read-credentials.ts';
import type { SourceUser, TotpOfSource } from './source-user.ts';
import { isRecord, numberOf, refusedValue, type SourceRecord, textOf } from './source-user.ts';

/** A user of a realm export. Of several passwords or apps the first counts; other credentials are not taken over. */
export function readKeycloak(record: SourceRecord): Reading<SourceUser> {
  if (record.serviceAccountClientId)
    return { kind: 'refused', problem: 'is the service account of a client, not a person' };
  const credentials = Array.isArray(record.credentials) ? record.credentials.filter(isRecord) : [];
  const ofType = (type: string) => credentials.find((credential) => credential.type === type);
  const [password, app] = [ofType('password'), ofType('otp')];
  const totp: Reading<TotpOfSource | null> = app ? readOtp(app) : { kind: 'ok', value: null };
  if (totp.kind === 'refused') return totp;
  return {
    kind: 'ok',
    value: {
      username: record.username,
      email: record.email,
      emailVerified: record.emailVerified,
      name: `${textOf(record.firstName)} ${textOf(record.lastName)}`.trim(),
      active: record.enabled,
      createdAt: record.createdTimestamp,
      language: languageOfTag(textOf(first(isRecord(record.attributes) ? record.attributes.locale : undefined))),
      passwordHash: password ? readPassword(password) : { kind: 'ok', value: null },
      totp: totp.value,
    },
  };
}

function readPassword(credential: SourceRecord): Reading<string | null> {
  const [data, secret] = [parsed(credential.credentialData), parsed(credential.secretData)];
  if (!data || !secret || typeof secret.value !== 'string' || typeof secret.salt !== 'string')
    return refusedValue('passwordHash', 'has no credentialData and secretData as Keycloak 8 and later write them');
  const [salt, key] = [secret.salt, secret.value].map((text) => Buffer.from(text, 'base64')) as [Buffer, Buffer];
  const [rounds, algorithm] = [numberOf(data.hashIterations), textOf(data.algorithm)];
  if (!Number.isSafeInteger(rounds) || rounds < 1) return refusedValue('passwordHash', 'has no hashIterations');
  const digest = ({ pbkdf2: 'sha1', 'pbkdf2-sha256': 'sha256', 'pbkdf2-sha512': 'sha512' } as const)[algorithm];
  if (digest) return checkedHash({ kind: 'pbkdf2', digest, rounds, salt, key });
  if (algorithm !== 'argon2')
    return refusedValue('passwordHash', `${JSON.stringify(algorithm.slice(0, 40))} cannot be verified here`);
  const more = isRecord(data.additionalParameters) ? data.additionalParameters : {};
  const [type = '', version = '', memory = '', parallelism = ''] = ['type', 'version', 'memory', 'parallelism'].map(
    (name) => textOf(first(more[name])),
  );
  const sizes = `v=${version === '1.0' ? 16 : 19}$m=${memory},t=${rounds},p=${parallelism}`;
  const [saltText, keyText] = [salt, key].map((bytes) => bytes.toString('base64').replaceAll('=', ''));
  const argon2 = readForeignHash(`$argon2${type || 'id'}$${sizes}$${saltText}$${keyText}`);
  return argon2 ? checkedHash(argon2) : refusedValue('passwordHash', 'has parameters of argon2 that are not known');
}

/** Without an encoding the letters of the secret are its bytes. */
function readOtp(credential: SourceRecord): Reading<TotpOfSource | null> {
  const [data, secret] = [parsed(credential.credentialData), parsed(credential.secretData)];
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
  try {
    const data: unknown = typeof value === 'string' ? JSON.parse(value) : value;
    return isRecord(data) ? data : null;
  } catch {
    return null;
  }
}

const first = (value: unknown): unknown => (Array.isArray(value) ? value[0] : value);
