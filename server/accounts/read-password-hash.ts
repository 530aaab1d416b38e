import {
  costProblem,
  type Digest,
  type ForeignHash,
  foreignHashText,
  readForeignHash,
} from '../crypto/foreign-hash.ts';
import type { Reading } from '../names/read-name.ts';
import { isGiven, refusedValue } from './read-value.ts';

const none = { kind: 'ok', value: null } as const;

/**
 * The stored form of a password hash that names its algorithm: PHC strings (argon2, PBKDF2, scrypt), bcrypt, and the
 * forms of Django. Null stands for no password: an empty value, or Django's unusable one.
 */
export function readPasswordHash(value: unknown): Reading<string | null> {
  if (!isGiven(value)) return none;
  if (typeof value !== 'string') return refusedValue('passwordHash', 'must be a text');
  if (value.length > 600) return refusedValue('passwordHash', 'is too long');
  if (value.startsWith('!')) return none;
  const hash = readForeignHash(phcOfPasslib(value)) ?? readDjangoHash(value);
  return hash ? checkedHash(hash) : refusedValue('passwordHash', problemOf(value));
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

/** Passlib writes PBKDF2's rounds without `i=`, SHA-1 without a name, and a dot for a plus. */
function phcOfPasslib(text: string): string {
  const [, digest, rest] = /^\$pbkdf2(-sha(?:1|256|512))?\$(?!i=)(.*)$/.exec(text) ?? [];
  if (rest !== undefined) return `$pbkdf2${digest ?? '-sha1'}$i=${rest.replaceAll('.', '+')}`;
  // Some writers name the length of the key, which the key itself shows.
  return text.replace(/^(\$pbkdf2-sha(?:1|256|512)\$i=\d+),l=\d+\$/, '$1$');
}

/** A form of Django (django.contrib.auth.hashers): `algorithm$…`, where the salt's letters are its bytes. */
function readDjangoHash(text: string): ForeignHash | null {
  const [algorithm = '', ...parts] = text.split('$');
  const [digest] = algorithm.match(/(?<=^pbkdf2_)sha(?:256|1)$/) ?? [];
  if (digest && parts.length === 3) {
    const [rounds, salt, key] = parts as [string, string, string];
    return { kind: 'pbkdf2', digest: digest as Digest, rounds: Number(rounds), ...bytesOf(salt, key) };
  }
  if (algorithm === 'scrypt' && parts.length === 5) {
    const [cost, salt, block, lanes, key] = parts as [string, string, string, string, string];
    return {
      kind: 'scrypt',
      log2Cost: Math.log2(Number(cost)),
      block: Number(block),
      lanes: Number(lanes),
      ...bytesOf(salt, key),
    };
  }
  const rest = text.slice(algorithm.length);
  if (algorithm === 'argon2') return readForeignHash(rest);
  if (algorithm === 'bcrypt') return readForeignHash(rest.slice(1));
  return algorithm === 'bcrypt_sha256' ? readForeignHash(`$sha256-hex${rest.slice(1)}`) : null;
}

const bytesOf = (salt: string, key: string) => ({ salt: Buffer.from(salt), key: Buffer.from(key, 'base64') });

function problemOf(text: string): string {
  if (/^\$2x?\$/.test(text)) return 'bcrypt with the prefix $2$ or $2x$ comes from a faulty implementation';
  const [, name] = /^\$?([\w-]{1,30})\$/.exec(text) ?? [];
  return name ? `has a form of ${name} that cannot be verified here` : 'has a form that is not known';
}
