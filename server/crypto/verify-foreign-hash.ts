import { createCipheriv, createHash, pbkdf2, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { verify as verifyArgon2 } from '@node-rs/argon2';
import { verify as verifyBcrypt } from '@node-rs/bcrypt';
import { limits } from '../limits.ts';
import type { ForeignHash } from './foreign-hash.ts';

/** Whether a password, as typed, matches a hash that another system made. The work does not depend on the answer. */
export async function verifyForeignHash(hash: ForeignHash, password: string): Promise<boolean> {
  switch (hash.kind) {
    case 'argon2':
      return await verifyArgon2(hash.text, password);
    case 'bcrypt':
      return await verifyBcrypt(hash.over === 'password' ? password : sha256Hex(password), hash.text);
    case 'pbkdf2': {
      const { salt, rounds, key, digest } = hash;
      const made = await promisify(pbkdf2)(Buffer.from(password), salt, rounds, key.length, digest);
      return timingSafeEqual(made, key);
    }
    case 'scrypt': {
      const { salt, key } = hash;
      const made = await scryptKey(Buffer.from(password), salt, key.length, hash);
      return timingSafeEqual(made, key);
    }
    case 'firebase': {
      const made = await scryptKey(Buffer.from(password), hash.salt, 32, { ...hash, lanes: 1 });
      const stream = createCipheriv('aes-256-ctr', made, Buffer.alloc(16)).update(Buffer.alloc(hash.key.length));
      return timingSafeEqual(stream, hash.key);
    }
  }
}

function scryptKey(
  password: Buffer,
  salt: Buffer,
  length: number,
  { log2Cost, block, lanes }: { log2Cost: number; block: number; lanes: number },
): Promise<Buffer> {
  const options = { N: 2 ** log2Cost, r: block, p: lanes, maxmem: 2 * limits.foreignHash.scryptMemory };
  return new Promise((resolve, reject) => {
    scrypt(password, salt, length, options, (error, key) => (error ? reject(error) : resolve(key)));
  });
}

function sha256Hex(password: string): string {
  return createHash('sha256').update(password).digest('hex');
}
