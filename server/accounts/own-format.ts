import type { Reading } from '../names/read-name.ts';
import { readPasswordHash } from './read-credentials.ts';
import type { SourceRecord, SourceUser } from './source-user.ts';

/** The fields of our own format, as `vestibule user export` writes them; `refused` is why an import left a line out. */
const fields = [
  ...['email', 'username', 'name', 'customers', 'groups', 'language', 'active', 'mayChangePassword', 'emailVerified'],
  ...['createdAt', 'passwordHash', 'totpSecret', 'totpAlgorithm', 'totpDigits', 'totpPeriod'],
  'refused',
];
const spellings = new Map(fields.map((field) => [field.toLowerCase(), field]))
  .set('customer', 'customers')
  .set('group', 'groups');

/** The field that a name means, in any case; the name itself if it is none. */
export function ownField(name: string): string {
  return spellings.get(name.trim().toLowerCase()) ?? name;
}

/** What is wrong with the names of fields: one that is not known may be misspelt, and its values would be lost. */
export function problemOfFields(names: readonly string[]): string | null {
  const wrong = names.find((name, place) => !fields.includes(name) || names.indexOf(name) !== place);
  if (wrong === undefined) return null;
  const what = fields.includes(wrong) ? 'names a field twice' : 'has the unknown field';
  return `${what}: ${JSON.stringify(wrong.slice(0, 100))}; known are ${fields.slice(0, -1).join(', ')}`;
}

/** Our own format. */
export function readOwnFormat(given: SourceRecord): Reading<SourceUser> {
  const names = Object.keys(given).map(ownField);
  const problem = problemOfFields(names);
  if (problem) return { kind: 'refused', problem };
  const record: SourceRecord = Object.fromEntries(Object.values(given).map((value, place) => [names[place], value]));
  const { refused: _, totpSecret, totpAlgorithm, totpDigits, totpPeriod, passwordHash, ...rest } = record;
  return {
    kind: 'ok',
    value: {
      ...rest,
      passwordHash: readPasswordHash(passwordHash),
      totp: { secret: totpSecret, algorithm: totpAlgorithm, digits: totpDigits, period: totpPeriod },
    },
  };
}
