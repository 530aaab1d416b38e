import { day } from '../limits.ts';
import type { Reading } from '../names/read-name.ts';
import { checkedHash } from './read-credentials.ts';
import type { ReadSource } from './source-user.ts';
import { isGiven, readAll, readFlag, refusedValue, textOf } from './source-user.ts';

/**
 * A row of AspNetUsers, with the key of AspNetUserTokens as `AuthenticatorKey`. A key counts only if the user has turned
 * the second factor on: until then nobody has shown that an app holds it. A user who is locked out for more than a
 * day was locked out by an operator, and comes in inactive.
 */
export function readAspnet(now: () => Date): ReadSource {
  return (record) => {
    const flags = readAll({
      hasFactor: readFlag('TwoFactorEnabled', record.TwoFactorEnabled, false),
      canBeLockedOut: readFlag('LockoutEnabled', record.LockoutEnabled, true),
    });
    if (flags.kind === 'refused') return flags;
    const { hasFactor, canBeLockedOut } = flags.value;
    const until = isGiven(record.LockoutEnd) ? new Date(textOf(record.LockoutEnd)).getTime() : 0;
    // An unreadable time shuts out rather than lets in.
    const isLockedOut = Number.isNaN(until) || until - now().getTime() > day;
    return {
      kind: 'ok',
      value: {
        username: record.UserName,
        email: record.Email,
        emailVerified: record.EmailConfirmed,
        active: !(canBeLockedOut && isLockedOut),
        passwordHash: readHash(record.PasswordHash),
        totp: hasFactor ? { secret: record.AuthenticatorKey } : null,
      },
    };
  };
}

/**
 * The formats of ASP.NET Core Identity's PasswordHasher, in base64. Version 2: a zero, 16 bytes of salt, 32 of key, by
 * PBKDF2 with SHA-1 and 1000 rounds. Version 3: a one, then as big-endian 32-bit numbers the digest, the rounds and the
 * length of the salt, then salt and key.
 */
function readHash(value: unknown): Reading<string | null> {
  if (!isGiven(value)) return { kind: 'ok', value: null };
  const form = refusedValue('passwordHash', 'is not a hash of ASP.NET Core Identity');
  if (typeof value !== 'string' || value.length > 600 || !/^[A-Za-z0-9+/]+={0,2}$/.test(value)) return form;
  const bytes = Buffer.from(value, 'base64');
  if (bytes[0] === 0 && bytes.length === 49) {
    const [salt, key] = [bytes.subarray(1, 17), bytes.subarray(17)];
    return checkedHash({ kind: 'pbkdf2', digest: 'sha1', rounds: 1000, salt, key });
  }
  if (bytes[0] !== 1 || bytes.length < 13) return form;
  const digest = (['sha1', 'sha256', 'sha512'] as const)[bytes.readUInt32BE(1)];
  const saltEnd = 13 + bytes.readUInt32BE(9);
  if (!digest || saltEnd >= bytes.length) return form;
  const [salt, key] = [bytes.subarray(13, saltEnd), bytes.subarray(saltEnd)];
  return checkedHash({ kind: 'pbkdf2', digest, rounds: bytes.readUInt32BE(5), salt, key });
}
