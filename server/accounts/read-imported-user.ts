import { type Language, languageOfTag, languages } from '#contract/languages.ts';
import { type Reading, readDisplayName, readEmail, readShortName, readUsername } from '../names/read-name.ts';
import { readTime } from '../names/read-time.ts';
import { isWithin, readGroups, splitGroups } from '../people/groups.ts';
import { readTotp } from './read-credentials.ts';
import { type ImportedUser, isGiven, readAll, readFlag, refusedValue, type SourceUser, textOf } from './source-user.ts';

export type ImportRules = {
  /** Customers of users for whom the source names none. */
  customers: readonly string[];
  /** Whether users with an address that the source calls unverified are taken over. */
  acceptsUnverified: boolean;
  /** For these customers alone, and without secrets: at the desk, nobody brings in a way to sign in. */
  atDesk?: boolean;
  now: Date;
};

/** Checks every value of a user from another system; the first problem refuses the source. */
export function readImportedUser(source: SourceUser, rules: ImportRules): Reading<ImportedUser> {
  const { acceptsUnverified, customers, now } = rules;
  const isVerified = readFlag('emailVerified', source.emailVerified, true);
  if (isVerified.kind === 'refused') return isVerified;
  if (!isVerified.value && !acceptsUnverified)
    return refusedValue('email', 'the source has not verified it; --accept-unverified takes such users over');
  const email = readText('email', source.email, readEmail);
  const name = isGiven(source.username) || email.kind === 'refused' ? source.username : email.value;
  const read = readAll<ImportedUser>({
    email,
    username: readText('username', name, readUsername),
    name: isGiven(source.name) ? readText('name', source.name, readDisplayName) : { kind: 'ok', value: null },
    customers: readCustomers(source.customers, customers),
    groups: readGroups(listOf(source.groups, splitGroups) ?? [source.groups]),
    language: readLanguage(source.language),
    active: readFlag('active', source.active, true),
    mayChangePassword: readFlag('mayChangePassword', source.mayChangePassword, true),
    createdAt: readCreatedAt(source.createdAt, now),
    passwordHash: source.passwordHash ?? { kind: 'ok', value: null },
    totp: readTotp(source.totp ?? null),
  });
  if (read.kind === 'refused') return read;
  const { customers: own, groups } = read.value;
  const foreign = groups.find((group) => !isWithin(group, own));
  if (foreign !== undefined) return refusedValue('groups', `${foreign} is not of a customer of the user`);
  return (rules.atDesk && problemAtDesk(read.value, rules)) || read;
}

function problemAtDesk({ passwordHash, totp, ...user }: ImportedUser, { customers }: ImportRules) {
  if (user.customers.join() !== customers.join()) return refusedValue('customers', `must be ${customers}, or empty`);
  const secret = passwordHash !== null ? 'passwordHash' : totp !== null ? 'totpSecret' : null;
  return secret && refusedValue(secret, 'must be empty: whoever is added chooses a password by an invitation');
}

function readText(field: string, value: unknown, read: (text: string) => Reading): Reading {
  if (!isGiven(value)) return refusedValue(field, 'is missing');
  if (typeof value !== 'string') return refusedValue(field, 'must be a text');
  // Longer than any name can be: the rules need not look at all of it.
  if (value.length > 1000) return refusedValue(field, 'is too long');
  return read(value);
}

/** A list, or what a cell of a CSV file holds of one; null for anything else. */
function listOf(value: unknown, split: (text: string) => string[]): unknown[] | null {
  if (!isGiven(value)) return [];
  if (typeof value === 'string') return split(value);
  return Array.isArray(value) ? value : null;
}

function readCustomers(value: unknown, otherwise: readonly string[]): Reading<string[]> {
  const keys = listOf(value, (text) => text.split(/[\s,;]+/).filter(Boolean));
  if (!keys) return refusedValue('customers', 'must be a list of keys');
  for (const key of keys) {
    if (typeof key !== 'string' || readShortName(key).kind === 'refused')
      return refusedValue('customers', `${JSON.stringify(key)?.slice(0, 100)} is not the key of a customer`);
  }
  return { kind: 'ok', value: [...new Set(keys.length > 0 ? (keys as string[]) : otherwise)].sort() };
}

function readLanguage(value: unknown): Reading<Language | null> {
  if (!isGiven(value)) return { kind: 'ok', value: null };
  const language = typeof value === 'string' ? languageOfTag(value) : null;
  if (language) return { kind: 'ok', value: language };
  return refusedValue('language', `must be one of ${languages.join(', ')}`);
}

/** Nobody's account is older: the number of an earlier time counts seconds. */
const earliest = new Date('1990-01-01');

function readCreatedAt(value: unknown, now: Date): Reading<Date> {
  if (!isGiven(value)) return { kind: 'ok', value: now };
  const text = textOf(value);
  const moment = /^\d{1,15}$/.test(text) ? new Date(Number(text)) : readTime(text);
  if (!moment || moment < earliest)
    return refusedValue(
      'createdAt',
      'must be a day of the calendar, a time such as 2026-03-01T10:00Z, or milliseconds since 1970',
    );
  return moment > now ? refusedValue('createdAt', 'must not be in the future') : { kind: 'ok', value: moment };
}
