import type { Reading } from '../names/read-name.ts';
import { type ForeignHash, foreignHashText, readForeignHash } from '../secrets/foreign-hash.ts';
import { costProblem } from '../secrets/foreign-hash-cost.ts';
import { refusedValue } from './refusal.ts';

/** The stored form of a hash, refused if it is malformed or would take too long to verify. */
export function checkedHash(hash: ForeignHash): Reading {
  const text = foreignHashText(hash);
  const read = readForeignHash(text);
  if (!read)
    return refusedValue('passwordHash', 'its salt or key has an impossible length, or a parameter is out of range');
  const problem = costProblem(read);
  return problem === null ? { kind: 'ok', value: text } : refusedValue('passwordHash', problem);
}
