import {
  costProblem,
  type Digest,
  digests,
  type ForeignHash,
  foreignHashText,
  readForeignHash,
} from '../crypto/foreign-hash.ts';
import { storedTotpSecret, type TotpAlgorithm } from '../factors/totp.ts';
import type { Reading } from '../names/read-name.ts';
import { isGiven, numberOf, refusedValue, type TotpOfSource, textOf } from './source-user.ts';

const none = { kind: 'ok', value: null } as const;

/** Directories, Dovecot and Spring name the algorithm again, before a hash that names it. */
const prefixes = /^\{(?:(?:b|blf-)?crypt|argon2\w*|scrypt\w*|pbkdf2[\w@.-]*)\}/i;

/**
 * The stored form of a password hash that names its algorithm: PHC strings (argon2, PBKDF2, scrypt), bcrypt, and the
 * forms of Django and ASP.NET Core Identity. Null stands for no password: an empty value, or Django's unusable one.
 */
export function readPasswordHash(value: unknown): Reading<string | null> {
  if (!isGiven(value)) return none;
  if (typeof value !== 'string') return refusedValue('passwordHash', 'must be a text');
  if (value.length > 600) return refusedValue('passwordHash', 'is too long');
  const text = value.trim().replace(prefixes, '');
  if (text.startsWith('!')) return none;
  const hash = readForeignHash(phcOf(text)) ?? readDjangoHash(text) ?? readAspnetHash(text);
  return hash ? checkedHash(hash) : refusedValue('passwordHash', problemOf(text));
}

/** The stored form of a hash, refused if it is malformed or would take too long to verify. */
export function checkedHash(hash: ForeignHash): Reading {
  const text = foreignHashText(hash);
  const read = readForeignHash(text);
  if (!read)
    return refusedValue('passwordHash', 'its salt or key has an impossible length, or a parameter is out of range');
  const problem = costProblem(read);
  return problem === null ? { kind: 'ok', value: text } : refusedValue('passwordHash', problem);
}

/** Passlib writes PBKDF2's rounds without `i=`, SHA-1 without a name, and a dot for a plus; others pad base64. */
function phcOf(text: string): string {
  const [, digest, rest] = /^\$pbkdf2(-sha(?:1|256|512))?\$(?!i=)(.*)$/.exec(text) ?? [];
  if (rest !== undefined) return `$pbkdf2${digest ?? '-sha1'}$i=${rest.replaceAll('.', '+')}`;
  // Some writers name the length of the key, which the key itself shows.
  const plain = text.replace(/^(\$pbkdf2-sha(?:1|256|512)\$i=\d+),l=\d+\$/, '$1$');
  return plain.replace(/=+(?=\$|$)/g, '');
}

/** A form of Django (django.contrib.auth.hashers): `algorithm$…`, where the salt's letters are its bytes. */
function readDjangoHash(text: string): ForeignHash | null {
  const [algorithm = '', ...parts] = text.split('$');
  const [digest] = algorithm.match(/(?<=^pbkdf2_)sha(?:256|1)$/) ?? [];
  if (digest && parts.length === 3) {
    const [rounds, salt, key] = parts as [string, string, string];
    return { kind: 'pbkdf2', digest: digest as Digest, rounds: Number(rounds), ...saltAndKey(salt, key) };
  }
  if (algorithm === 'scrypt' && parts.length === 5) {
    const [cost, salt, block, parallelism, key] = parts as [string, string, string, string, string];
    const costs = { log2Cost: Math.log2(Number(cost)), block: Number(block), parallelism: Number(parallelism) };
    return { kind: 'scrypt', ...costs, ...saltAndKey(salt, key) };
  }
  const rest = text.slice(algorithm.length);
  if (algorithm === 'argon2') return readForeignHash(rest);
  if (algorithm === 'bcrypt') return readForeignHash(rest.slice(1));
  return algorithm === 'bcrypt_sha256' ? readForeignHash(`$sha256-hex${rest.slice(1)}`) : null;
}

/**
 * The formats of ASP.NET Core Identity's PasswordHasher, in base64. Version 2: a zero, 16 bytes of salt, 32 of key, by
 * PBKDF2 with SHA-1 and 1000 rounds. Version 3: a one, then as big-endian 32-bit numbers the digest, the rounds and the
 * length of the salt, then salt and key.
 */
function readAspnetHash(text: string): ForeignHash | null {
  if (!/^[A-Za-z0-9+/]{60,}={0,2}$/.test(text)) return null;
  const bytes = Buffer.from(text, 'base64');
  const parts = (start: number, end: number) => ({ salt: bytes.subarray(start, end), key: bytes.subarray(end) });
  if (bytes[0] === 0 && bytes.length === 49) return { kind: 'pbkdf2', digest: 'sha1', rounds: 1000, ...parts(1, 17) };
  const digest = bytes[0] === 1 && digests[bytes.readUInt32BE(1)];
  return digest
    ? { kind: 'pbkdf2', digest, rounds: bytes.readUInt32BE(5), ...parts(13, 13 + bytes.readUInt32BE(9)) }
    : null;
}

const saltAndKey = (salt: string, key: string) => ({ salt: Buffer.from(salt), key: Buffer.from(key, 'base64') });

function problemOf(text: string): string {
  if (/^\$2x?\$/.test(text)) return 'bcrypt with the prefix $2$ or $2x$ comes from a faulty implementation';
  const [, name = ''] = schemes.exec(text) ?? [];
  return name ? `has a form of ${crypts[name] ?? name} that cannot be verified here` : 'has a form that is not known';
}

/** Names that may be shown: what begins otherwise may be a password. */
const schemes = /^\W?(argon2\w*|b?crypt\w*|yescrypt|scrypt|pbkdf2[\w-]*|s?sha\d*|s?md5|[156y](?=\$))/i;
const crypts: Record<string, string> = { 1: 'MD5 crypt', 5: 'SHA-256 crypt', 6: 'SHA-512 crypt', y: 'yescrypt' };

/** RFC 4226 §4 requires 128 bits; the verification refuses less. */
const shortestSecret = 16;
const longestSecret = 64;

/** The secret of an authenticator app as it is sealed; refused if its codes could not be verified here. */
export function readTotp(source: TotpOfSource | null): Reading<string | null> {
  if (!source || !isGiven(source.secret)) return { kind: 'ok', value: null };
  // Empty cells of a CSV file count as absent.
  const [digits, period] = [source.digits || 6, source.period || 30];
  const algorithm = algorithmOf(source.algorithm || 'SHA1');
  if (!algorithm) return refusedValue('totp', 'the algorithm must be SHA1, SHA256 or SHA512');
  if (numberOf(digits) !== 6)
    return refusedValue('totp', `codes have six digits here, not ${textOf(digits).slice(0, 10)}`);
  if (numberOf(period) !== 30)
    return refusedValue('totp', `codes change every 30 seconds here, not ${textOf(period).slice(0, 10)}`);
  const secret = bytesOf(source.secret);
  if (!secret) return refusedValue('totp', 'the secret is not base32');
  if (secret.length < shortestSecret || secret.length > longestSecret)
    return refusedValue('totp', `the secret must have ${shortestSecret} to ${longestSecret} bytes`);
  return { kind: 'ok', value: storedTotpSecret(secret, algorithm) };
}

function algorithmOf(name: unknown): TotpAlgorithm | null {
  const [, bits] = /^(?:hmac)?-?sha-?(1|256|512)$/i.exec(textOf(name)) ?? [];
  return bits ? (`sha${bits}` as TotpAlgorithm) : null;
}

function bytesOf(secret: unknown): Uint8Array | null {
  if (secret instanceof Uint8Array) return secret;
  if (typeof secret !== 'string' || secret.length > 200) return null;
  const letters = secret.replace(/[\s=-]/g, '').toUpperCase();
  if (!/^[A-Z2-7]+$/.test(letters)) return null;
  const bits = [...letters].map((letter) => base32.indexOf(letter).toString(2).padStart(5, '0')).join('');
  return Uint8Array.from(bits.match(/.{8}/g) ?? [], (byte) => Number.parseInt(byte, 2));
}

const base32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
