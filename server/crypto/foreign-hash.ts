import { hash as digestOf, pbkdf2, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { verify as verifyArgon2 } from '@node-rs/argon2';
import { verify as verifyBcrypt } from '@node-rs/bcrypt';
import { limits } from '../limits.ts';

/** A password hash that another system made. Buffers are the decoded salt and key. */
export type ForeignHash =
  | { kind: 'argon2'; text: string; memory: number; passes: number; parallelism: number; version: number }
  /** `over` says what bcrypt hashed: the password, or the hexadecimal SHA-256 of it (Django's bcrypt_sha256). */
  | { kind: 'bcrypt'; text: string; cost: number; over: 'password' | 'sha256-hex' }
  | { kind: 'pbkdf2'; digest: Digest; rounds: number; salt: Buffer; key: Buffer }
  | { kind: 'scrypt'; log2Cost: number; block: number; parallelism: number; salt: Buffer; key: Buffer };

export const digests = ['sha1', 'sha256', 'sha512'] as const;
export type Digest = (typeof digests)[number];

/**
 * Reads a hash in the form in which it is stored: the PHC string format for argon2, PBKDF2 and scrypt, crypt's form for
 * bcrypt. Null if it is none of these. Whether verifying it costs too much is asked apart.
 */
export function readForeignHash(text: string): ForeignHash | null {
  if (text.length > longestText) return null;
  if (text.startsWith('$argon2')) return readArgon2(text);
  if (text.startsWith(sha256Mark)) return readBcrypt(text.slice(sha256Mark.length), 'sha256-hex');
  if (text.startsWith('$2')) return readBcrypt(text, 'password');
  return readPbkdf2(text) ?? readScrypt(text);
}

/** The form in which a hash is stored and exported; `readForeignHash` reads it again. */
export function foreignHashText(hash: ForeignHash): string {
  switch (hash.kind) {
    case 'argon2':
      return hash.text;
    case 'bcrypt':
      return (hash.over === 'password' ? '' : sha256Mark) + hash.text;
    case 'pbkdf2':
      return `$pbkdf2-${hash.digest}$i=${hash.rounds}${bytesPart(hash)}`;
    case 'scrypt':
      return `$scrypt$ln=${hash.log2Cost},r=${hash.block},p=${hash.parallelism}${bytesPart(hash)}`;
  }
}

const longestText = 600;
const sha256Mark = '$sha256-hex';

function readArgon2(text: string): ForeignHash | null {
  const form =
    /^\$argon2(?:id|i)\$(?:v=(16|19)\$)?m=([1-9]\d{0,8}),t=([1-9]\d{0,8}),p=([1-9]\d{0,2})\$([\w+/]+)\$([\w+/]+)$/;
  const [, version = '16', memory, passes, parallelism, salt, key] = form.exec(text) ?? [];
  if (!salt || !key || !isSalt(unpadded(salt), 8) || !isKey(unpadded(key))) return null;
  // The text itself is verified, by a strict decoder.
  if (![salt, key].every((part) => base64(unpadded(part)) === part)) return null;
  const threads = Number(parallelism);
  // RFC 9106 §3.1: each lane has at least 8 KiB.
  if (Number(memory) < 8 * threads) return null;
  const sizes = { memory: Number(memory), passes: Number(passes), parallelism: threads, version: Number(version) };
  return { kind: 'argon2', text, ...sizes };
}

function readBcrypt(text: string, over: 'password' | 'sha256-hex'): ForeignHash | null {
  const [, cost] = /^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}$/.exec(text) ?? [];
  return cost === undefined || Number(cost) < 4 || Number(cost) > 31
    ? null
    : { kind: 'bcrypt', text, cost: Number(cost), over };
}

function readPbkdf2(text: string): ForeignHash | null {
  const form = /^\$pbkdf2-(sha1|sha256|sha512)\$i=([1-9]\d{0,9})\$([\w+/]*)\$([\w+/]+)$/;
  const [, digest, rounds, salt, key] = form.exec(text) ?? [];
  const bytes = bytesOf(salt, key);
  return bytes && { kind: 'pbkdf2', digest: digest as Digest, rounds: Number(rounds), ...bytes };
}

function readScrypt(text: string): ForeignHash | null {
  const form = /^\$scrypt\$ln=([1-9]\d?),r=([1-9]\d{0,5}),p=([1-9]\d{0,5})\$([\w+/]*)\$([\w+/]+)$/;
  const [, log2Cost, block, parallelism, salt, key] = form.exec(text) ?? [];
  const bytes = bytesOf(salt, key);
  // RFC 7914 §2: the cost is less than 2 to the power of 128 × r / 8.
  if (!bytes || Number(log2Cost) >= 16 * Number(block)) return null;
  const cost = { log2Cost: Number(log2Cost), block: Number(block), parallelism: Number(parallelism) };
  return { kind: 'scrypt', ...cost, ...bytes };
}

function bytesOf(saltText: string | undefined, keyText: string | undefined): { salt: Buffer; key: Buffer } | null {
  if (saltText === undefined || keyText === undefined) return null;
  const [salt, key] = [unpadded(saltText), unpadded(keyText)];
  return isSalt(salt, 1) && isKey(key) ? { salt, key } : null;
}

function isSalt(salt: Buffer, shortest: number): boolean {
  return salt.length >= shortest && salt.length <= 128;
}

/** A shorter key could be met by chance. */
function isKey(key: Buffer): boolean {
  return key.length >= 16 && key.length <= 128;
}

const unpadded = (text: string) => Buffer.from(text, 'base64');

const base64 = (bytes: Buffer) => bytes.toString('base64').replaceAll('=', '');

const bytesPart = ({ salt, key }: { salt: Buffer; key: Buffer }) => `$${base64(salt)}$${base64(key)}`;

/** Why verifying a hash would occupy a core for longer than a sign-in may, about two seconds; null if it does not. */
export function costProblem(hash: ForeignHash): string | null {
  const { bcryptCost, argon2Memory, argon2Work, scryptMemory, scryptWork, pbkdf2Rounds } = limits.foreignHash;
  const tooMuch = (what: string, most: number | string) => `verifying it would take too long: ${what} is above ${most}`;
  switch (hash.kind) {
    case 'bcrypt':
      return hash.cost > bcryptCost ? tooMuch(`cost ${hash.cost}`, bcryptCost) : null;
    case 'argon2':
      if (hash.memory > argon2Memory) return tooMuch(`memory ${hash.memory} KiB`, argon2Memory);
      return hash.memory * hash.passes > argon2Work
        ? tooMuch(`memory × passes ${hash.memory * hash.passes}`, argon2Work)
        : null;
    case 'pbkdf2': {
      const { digest } = hash;
      const most = pbkdf2Rounds[digest];
      // Each block of the key takes all rounds (RFC 8018 §5.2).
      const rounds = hash.rounds * Math.ceil(hash.key.length / digestBytes[digest]);
      return rounds > most ? tooMuch(`rounds × blocks ${rounds}`, most) : null;
    }
    case 'scrypt': {
      const cost = 2 ** hash.log2Cost * hash.block;
      const work = cost * hash.parallelism;
      if (cost * 128 > scryptMemory) return tooMuch(`memory ${cost * 128} bytes`, scryptMemory);
      return work > scryptWork ? tooMuch(`N × r × p ${work}`, scryptWork) : null;
    }
  }
}

const digestBytes = { sha1: 20, sha256: 32, sha512: 64 };

/** Whether a password, as typed, matches a hash that another system made. The work does not depend on the answer. */
export async function verifyForeignHash(hash: ForeignHash, password: string): Promise<boolean> {
  switch (hash.kind) {
    case 'argon2':
      return await verifyArgon2(hash.text, password);
    case 'bcrypt':
      return await verifyBcrypt(hash.over === 'password' ? password : digestOf('sha256', password), hash.text);
    case 'pbkdf2': {
      const { salt, rounds, key, digest } = hash;
      const made = await promisify(pbkdf2)(password, salt, rounds, key.length, digest);
      return timingSafeEqual(made, key);
    }
    case 'scrypt': {
      const { log2Cost, block, parallelism, salt, key } = hash;
      const cost = { N: 2 ** log2Cost, r: block, p: parallelism, maxmem: 2 * limits.foreignHash.scryptMemory };
      const made = await promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt)(
        password,
        salt,
        key.length,
        cost,
      );
      return timingSafeEqual(made, key);
    }
  }
}
