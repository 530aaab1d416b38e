import { day } from '../limits.ts';
import type { Reading } from '../names/read-name.ts';
import { checkedHash } from './checked-hash.ts';
import { readFlag } from './read-flag.ts';
import { refusedValue } from './refusal.ts';
import type { ReadSource, SourceUser } from './source-user.ts';
import { textOf } from './text-of.ts';

/**
 * A row of AspNetUsers, with the key of AspNetUserTokens as `AuthenticatorKey`. A key counts only if the user has turned
 * the second factor on: until then nobody has shown that an app holds it. Whoever is locked out for more than a day was
 * locked out by an operator, and comes in inactive.
 */
export function readAspnet(now: () => Date): ReadSource {
  return (record): Reading<SourceUser> => {
    const hasFactor = readFlag('TwoFactorEnabled', record.TwoFactorEnabled, false);
    if (hasFactor.kind === 'refused') return hasFactor;
    const canBeLockedOut = readFlag('LockoutEnabled', record.LockoutEnabled, true);
    if (canBeLockedOut.kind === 'refused') return canBeLockedOut;
    return {
      kind: 'ok',
      value: {
        username: record.UserName,
        email: record.Email,
        emailVerified: record.EmailConfirmed,
        active: !(canBeLockedOut.value && isLockedOut(record.LockoutEnd, now())),
        passwordHash: readHash(record.PasswordHash),
        totp: hasFactor.value ? { secret: record.AuthenticatorKey } : null,
      },
    };
  };
}

function isLockedOut(lockoutEnd: unknown, now: Date): boolean {
  if (lockoutEnd === undefined || lockoutEnd === null || lockoutEnd === '') return false;
  const until = new Date(textOf(lockoutEnd)).getTime();
  // An unreadable time shuts out rather than lets in.
  return Number.isNaN(until) || until - now.getTime() > day;
}

/**
 * The formats of ASP.NET Core Identity's PasswordHasher, in base64. Version 2: a zero, 16 bytes of salt, 32 of key, by
 * PBKDF2 with SHA-1 and 1000 rounds. Version 3: a one, then as big-endian 32-bit numbers the digest, the rounds and the
 * length of the salt, then salt and key.
 */
function readHash(value: unknown): Reading<string | null> {
  if (value === undefined || value === null || value === '') return { kind: 'ok', value: null };
  const form = refusedValue('passwordHash', 'is not a hash of ASP.NET Core Identity');
  if (typeof value !== 'string' || value.length > 600 || !/^[A-Za-z0-9+/]+={0,2}$/.test(value)) return form;
  const bytes = Buffer.from(value, 'base64');
  if (bytes[0] === 0 && bytes.length === 49)
    return checkedHash({
      ...pbkdf2,
      digest: 'sha1',
      rounds: 1000,
      salt: bytes.subarray(1, 17),
      key: bytes.subarray(17),
    });
  if (bytes[0] !== 1 || bytes.length < 13) return form;
  const digest = (['sha1', 'sha256', 'sha512'] as const)[bytes.readUInt32BE(1)];
  const saltEnd = 13 + bytes.readUInt32BE(9);
  if (!digest || saltEnd >= bytes.length) return form;
  const [salt, key] = [bytes.subarray(13, saltEnd), bytes.subarray(saltEnd)];
  return checkedHash({ ...pbkdf2, digest, rounds: bytes.readUInt32BE(5), salt, key });
}

const pbkdf2 = { kind: 'pbkdf2', encoding: 'utf8' } as const;
