import type { Reading } from '../names/read-name.ts';
import { type PasswordEncoding, readForeignHash } from '../secrets/foreign-hash.ts';
import { checkedHash } from './checked-hash.ts';
import { isRecord } from './is-record.ts';
import { readPasswordHash } from './read-password-hash.ts';
import { refusedValue } from './refusal.ts';
import type { SourceRecord } from './source-user.ts';
import { numberOf, textOf } from './text-of.ts';

/**
 * Auth0's `custom_password_hash`: argon2 and PBKDF2 as PHC strings, bcrypt as crypt's, scrypt with salt and sizes beside
 * it. Plain digests (MD5, SHA, HMAC, LDAP) are refused: they protect nothing once they are copied.
 */
export function readAuth0CustomHash(custom: unknown): Reading<string | null> {
  if (!isRecord(custom) || !isRecord(custom.hash) || typeof custom.hash.value !== 'string')
    return refusedValue('passwordHash', 'custom_password_hash has no hash.value');
  const encoding = encodingOf(custom.password);
  if (!encoding) return refusedValue('passwordHash', 'password.encoding is not known');
  switch (custom.algorithm) {
    case 'scrypt':
      return readScrypt(custom, custom.hash, encoding);
    case 'pbkdf2':
      return encoded(readPasswordHash(custom.hash.value), encoding);
    case 'bcrypt':
    case 'argon2':
      return encoding === 'utf8'
        ? readPasswordHash(custom.hash.value)
        : refusedValue('passwordHash', `${custom.algorithm} is verified here for passwords in UTF-8 only`);
    default:
      return refusedValue(
        'passwordHash',
        `${JSON.stringify(textOf(custom.algorithm).slice(0, 40))} is not a password hash`,
      );
  }
}

function encodingOf(password: unknown): PasswordEncoding | null {
  const name = isRecord(password) ? textOf(password.encoding ?? 'utf8').toLowerCase() : 'utf8';
  const encodings: Record<string, PasswordEncoding> = {
    utf8: 'utf8',
    utf16le: 'utf16le',
    ucs2: 'utf16le',
    latin1: 'latin1',
    binary: 'latin1',
    ascii: 'latin1',
  };
  return encodings[name] ?? null;
}

function encoded(hash: Reading<string | null>, encoding: PasswordEncoding): Reading<string | null> {
  const read = hash.kind === 'ok' && hash.value !== null ? readForeignHash(hash.value) : null;
  return read?.kind === 'pbkdf2' ? checkedHash({ ...read, encoding }) : hash;
}

function readScrypt(custom: SourceRecord, hash: SourceRecord, encoding: PasswordEncoding): Reading {
  const key = bytesOf(hash);
  const salt = isRecord(custom.salt) ? bytesOf(custom.salt) : null;
  const log2Cost = Math.log2(numberOf(custom.cost ?? 16_384));
  const [block, lanes] = [numberOf(custom.blockSize ?? 8), numberOf(custom.parallelization ?? 1)];
  if (!key || !salt || ![log2Cost, block, lanes].every(Number.isSafeInteger))
    return refusedValue('passwordHash', 'scrypt needs a salt, and a cost that is a power of two');
  return checkedHash({ kind: 'scrypt', log2Cost, block, lanes, salt, key, encoding });
}

function bytesOf({ value, encoding }: SourceRecord): Buffer | null {
  if (typeof value !== 'string' || value.length > 600) return null;
  if (encoding === 'hex') return Buffer.from(value, 'hex');
  if (encoding === 'base64') return Buffer.from(value, 'base64');
  return encoding === 'utf8' || encoding === undefined ? Buffer.from(value) : null;
}
