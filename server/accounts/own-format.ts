import type { Reading } from '../names/read-name.ts';
import { readPasswordHash } from './read-credentials.ts';
import { isGiven, refusedValue, type SourceRecord, type SourceUser } from './source-user.ts';

/** The fields of our own format, as `vestibule user export` writes them. */
const knownFields = [
  ...['username', 'email', 'emailVerified', 'name', 'language', 'customers', 'groups', 'active', 'mayChangePassword'],
  ...['createdAt', 'passwordHash', 'formerPasswordHashes', 'totpSecret', 'totpAlgorithm', 'totpDigits', 'totpPeriod'],
];

/** Our own format. An unknown field is refused: it may be a misspelt one whose value would be lost. */
export function readOwnFormat(record: SourceRecord): Reading<SourceUser> {
  const unknown = Object.keys(record).find((name) => !knownFields.includes(name));
  if (unknown !== undefined)
    return refusedValue('line', `has the unknown field ${JSON.stringify(unknown.slice(0, 100))}`);
  const { totpSecret, totpAlgorithm, totpDigits, totpPeriod, formerPasswordHashes, passwordHash, ...rest } = record;
  return {
    kind: 'ok',
    value: {
      ...rest,
      passwordHash: readPasswordHash(passwordHash),
      formerPasswordHashes: readFormerHashes(formerPasswordHashes),
      totp: { secret: totpSecret, algorithm: totpAlgorithm, digits: totpDigits, period: totpPeriod },
    },
  };
}

function readFormerHashes(value: unknown): Reading<string[]> {
  if (!isGiven(value)) return { kind: 'ok', value: [] };
  if (!Array.isArray(value) || value.length > 100) return refusedValue('formerPasswordHashes', 'must be a short list');
  const hashes: string[] = [];
  for (const entry of value) {
    const hash = readPasswordHash(entry);
    if (hash.kind === 'refused')
      return refusedValue('formerPasswordHashes', hash.problem.replace('passwordHash: ', ''));
    if (hash.value !== null) hashes.push(hash.value);
  }
  return { kind: 'ok', value: hashes };
}
