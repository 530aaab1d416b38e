import type { Reading } from '../names/read-name.ts';
import { readForeignHash } from '../secrets/foreign-hash.ts';
import { checkedHash } from './checked-hash.ts';
import { readDjangoHash } from './read-django-hash.ts';
import { refusedValue } from './refusal.ts';

/**
 * The stored form of a password hash that names its algorithm: PHC strings (argon2, PBKDF2, scrypt), bcrypt, and the
 * forms of Django. Null stands for no password: an empty value, or Django's unusable one.
 */
export function readPasswordHash(value: unknown): Reading<string | null> {
  if (value === undefined || value === null || value === '') return { kind: 'ok', value: null };
  if (typeof value !== 'string') return refusedValue('passwordHash', 'must be a text');
  if (value.length > 600) return refusedValue('passwordHash', 'is too long');
  const hash = readForeignHash(phcOfPasslib(value)) ?? readDjangoHash(value);
  if (hash === 'none') return { kind: 'ok', value: null };
  return hash ? checkedHash(hash) : refusedValue('passwordHash', problemOf(value));
}

/** Passlib writes PBKDF2's rounds without `i=`, SHA-1 without a name, and a dot for a plus. */
function phcOfPasslib(text: string): string {
  const [, digest, rest] = /^\$pbkdf2(-sha(?:1|256|512))?\$(?!i=)(.*)$/.exec(text) ?? [];
  if (rest !== undefined) return `$pbkdf2${digest ?? '-sha1'}$i=${rest.replaceAll('.', '+')}`;
  // Some writers name the length of the key, which the key itself shows.
  return text.replace(/^(\$pbkdf2-sha(?:1|256|512)\$i=\d+),l=\d+\$/, '$1$');
}

function problemOf(text: string): string {
  if (/^\$2x?\$/.test(text)) return 'bcrypt with the prefix $2$ or $2x$ comes from a faulty implementation';
  const [, name] = /^\$?([\w-]{1,30})\$/.exec(text) ?? [];
  return name ? `has a form of ${name} that cannot be verified here` : 'has a form that is not known';
}
