import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import {
  brokenPasswordRules,
  isPossiblePassword,
  type PasswordPolicy,
  type PasswordRule,
} from '#contract/password-rules.ts';
import { type ChangeFailedReason, changeFailedReasons } from '#contract/reasons.ts';
import type { Config } from '../config/config.ts';
import type { Connection } from '../database/database.ts';
import { findCustomer } from '../people/customer.ts';
import type { User } from '../people/portal-user.ts';

/** The rules for a new password; `names`: what it may not be. */
export type NewPasswordRules = { policy: PasswordPolicy; names: readonly string[] };

/** The rules for a user's next password, given the keys of their customers. */
export async function newPasswordRules(
  sql: Connection,
  { passwordPolicy, brand }: Pick<Config, 'passwordPolicy' | 'brand'>,
  user: Pick<User, 'username' | 'email' | 'customers'>,
): Promise<NewPasswordRules> {
  const customers = await Promise.all(user.customers.map((key) => findCustomer(sql, key)));
  const named = { ...user, customers: customers.filter((customer) => customer !== null) };
  return { policy: passwordPolicy, names: ownNames(named, brand.branding.name) };
}

type Named = { username: string; email: string; customers: readonly { key: string; name: string }[] };

/** What a user's password may not be: the names of the user, their customers and the hub. */
export function ownNames({ username, email, customers }: Named, hubName: string): string[] {
  const logins = [username, email].flatMap((login) => [login, login.replace(/@[^@]*$/, '')]);
  return [...logins, ...customers.flatMap(({ key, name }) => [key, name]), hubName];
}

/**
 * Why a new password, typed twice, is refused; null if it is accepted. `reason` is the first that applies: it cannot be a
 * password, the entries differ, it fails the criteria (length, popular entries, common passwords, own names), it is too weak.
 * `words` are all of them, for operators, who have no checklist; they never quote the password.
 */
export function newPasswordProblem(
  password: string,
  repeat: string,
  { policy, names }: NewPasswordRules,
): { reason: ChangeFailedReason; words: string[] } | null {
  const broken = brokenPasswordRules(password, repeat, policy);
  const words = broken.map((rule) => inWords(rule, policy));
  const isPossible = isPossiblePassword(password);
  if (!isPossible) words.push('it must not contain control or invisible characters, or invalid Unicode');
  const [isCommon, isName] = [isCommonPassword(password), isOwnName(password, names)];
  if (isCommon) words.push('it is on the list of common passwords');
  if (isName) words.push('it is just a name of the user, a customer or the hub');
  if (words.length === 0) return null;

  const { invalidPassword, passwordsDiffer, criteriaNotMet, tooWeak } = changeFailedReasons;
  const isOnlyWeak = !isCommon && !isName && broken.every((rule) => rule === 'weak');
  if (!isPossible) return { reason: invalidPassword, words };
  if (broken.includes('match')) return { reason: passwordsDiffer, words };
  return { reason: isOnlyWeak ? tooWeak : criteriaNotMet, words };
}

function inWords(rule: PasswordRule, { shortest, longest }: PasswordPolicy): string {
  switch (rule) {
    case 'short':
      return `it must have at least ${shortest} characters`;
    case 'long':
      return `it must have at most ${longest} characters`;
    case 'common':
      return 'it contains a common password such as "password", "qwert" or "123"';
    case 'weak':
      return 'it is too weak: make it longer, or mix lower-case and upper-case letters, digits and symbols';
    case 'match':
      return 'the two entries differ';
  }
}

/** All entries in one text, each between line breaks; loaded when first needed. */
let commonPasswords: string | null = null;

/** Whether the whole password is on the list of common passwords, ignoring case and compatibility forms. */
function isCommonPassword(password: string): boolean {
  commonPasswords ??= readCommonPasswords();
  const plain = password.normalize('NFKC').toLowerCase();
  return !plain.includes('\n') && commonPasswords.includes(`\n${plain}\n`);
}

function readCommonPasswords(): string {
  const file = createRequire(import.meta.url).resolve('@zxcvbn-ts/language-common/src/passwords.json');
  const list: string[] = JSON.parse(readFileSync(file, 'utf8'));
  // No shorter password is allowed.
  return `\n${list.filter((entry) => entry.length >= 7).join('\n')}\n`;
}

/** A shorter name with additions at its ends is no longer recognisable as that name. */
const fewestLetters = 4;

/**
 * Whether the password is just one of the names. Only letters and digits are compared, ignoring case, compatibility
 * forms, and the digits at both ends: `2026-MariaLopez!` is `maria.lopez`.
 */
function isOwnName(password: string, names: readonly string[]): boolean {
  const chosen = comparedForms(password);
  return names.some((name) => {
    const own = comparedForms(name);
    return (
      chosen.text === own.text ||
      (own.plain !== '' && chosen.plain === own.plain) ||
      ((own.core.match(/\p{L}/gu) ?? []).length >= fewestLetters && chosen.core === own.core)
    );
  });
}

function comparedForms(text: string): { text: string; plain: string; core: string } {
  // Upper case: lower case has two forms of sigma and an ß that is SS elsewhere.
  const capitals = text.normalize('NFKC').toUpperCase().normalize('NFKC');
  const plain = capitals.replace(/[^\p{L}\p{M}\p{N}]/gu, '');
  return { text: capitals, plain, core: plain.replace(/^\p{N}+|\p{N}+$/gu, '') };
}
