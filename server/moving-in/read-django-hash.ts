import { type Digest, type ForeignHash, readForeignHash } from '../secrets/foreign-hash.ts';

/**
 * A hash in a form of Django (django.contrib.auth.hashers): `algorithm$…`. `none` for an unusable password, which begins
 * with an exclamation mark; null for anything else.
 */
export function readDjangoHash(text: string): ForeignHash | 'none' | null {
  if (text.startsWith('!')) return 'none';
  const parts = text.split('$');
  switch (parts[0]) {
    case 'pbkdf2_sha256':
    case 'pbkdf2_sha1':
      return readPbkdf2(parts);
    case 'argon2':
      return readForeignHash(text.slice('argon2'.length));
    case 'bcrypt':
      return readForeignHash(text.slice('bcrypt$'.length));
    case 'bcrypt_sha256':
      return readForeignHash(`$sha256-hex${text.slice('bcrypt_sha256$'.length)}`);
    case 'scrypt':
      return readScrypt(parts);
    default:
      return null;
  }
}

/** `pbkdf2_sha256$<rounds>$<salt>$<base64>`: the salt's letters are its bytes. */
function readPbkdf2([name, rounds, salt, key, ...more]: string[]): ForeignHash | null {
  if (!isWhole(rounds) || !salt || !key || more.length > 0) return null;
  return {
    kind: 'pbkdf2',
    digest: name?.slice('pbkdf2_'.length) as Digest,
    rounds: Number(rounds),
    salt: Buffer.from(salt),
    key: Buffer.from(key, 'base64'),
    encoding: 'utf8',
  };
}

/** `scrypt$<N>$<salt>$<r>$<p>$<base64>` */
function readScrypt([, cost, salt, block, lanes, key, ...more]: string[]): ForeignHash | null {
  if (!isWhole(cost) || !isWhole(block) || !isWhole(lanes) || !salt || !key || more.length > 0) return null;
  const log2Cost = Math.log2(Number(cost));
  if (!Number.isInteger(log2Cost)) return null;
  return {
    kind: 'scrypt',
    log2Cost,
    block: Number(block),
    lanes: Number(lanes),
    salt: Buffer.from(salt),
    key: Buffer.from(key, 'base64'),
    encoding: 'utf8',
  };
}

function isWhole(text: string | undefined): text is string {
  return text !== undefined && /^[1-9]\d{0,9}$/.test(text);
}
