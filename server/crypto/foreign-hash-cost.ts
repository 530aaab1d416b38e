import { limits } from '../limits.ts';
import type { ForeignHash } from './foreign-hash.ts';

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
    case 'scrypt':
    case 'firebase': {
      const cost = 2 ** hash.log2Cost * hash.block;
      const work = cost * (hash.kind === 'scrypt' ? hash.lanes : 1);
      if (cost * 128 > scryptMemory) return tooMuch(`memory ${cost * 128} bytes`, scryptMemory);
      return work > scryptWork ? tooMuch(`N × r × p ${work}`, scryptWork) : null;
    }
  }
}

const digestBytes = { sha1: 20, sha256: 32, sha512: 64 };
