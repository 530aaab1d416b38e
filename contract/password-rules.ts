/** The length limits of a new password, in Unicode code points after NFC, both inclusive. */
export type PasswordPolicy = { shortest: number; longest: number };

/** Specification §5, as shown to people: 7 to 72. */
export const defaultPasswordPolicy: PasswordPolicy = { shortest: 7, longest: 72 };

const smallestPasswordScore = 6;

/** Rejected as case-insensitive substrings (specification §5). */
export const popularEntries = '123456789 123456 123 password passwort passw0rd qwert 123123 abc abc123'.split(' ');

/** The rules by the last part of their message keys, `password-validation-…`. */
export type PasswordRule = 'short' | 'long' | 'common' | 'weak' | 'match';

/** What nobody could reliably type again; U+FFFD replaces input that is not Unicode. */
const impossible = /[\p{Cc}\p{Cs}\p{Noncharacter_Code_Point}\u200B\uFEFF\uFFFD]/u;

/** Whether the text can be a password at all; if not, a change fails with reason 6. */
export function isPossiblePassword(password: string): boolean {
  return !impossible.test(password);
}

/** The length of a password in Unicode code points after NFC. */
export function passwordLength(password: string): number {
  return [...password.normalize('NFC')].length;
}

/**
 * The strength score (specification §5): length beyond 8, plus up to 2 each for digits, lower-case letters, upper-case
 * letters and symbols of `~!@#$%^&*()_-`. A score of 6 passes.
 */
export function passwordScore(password: string): number {
  const composed = password.normalize('NFC');
  const upToTwo = (pattern: RegExp) => Math.min(2, composed.match(pattern)?.length ?? 0);
  return (
    Math.max(0, passwordLength(composed) - 8) +
    upToTwo(/[0-9]/g) +
    upToTwo(/[a-z]/g) +
    upToTwo(/[A-Z]/g) +
    upToTwo(/[~!@#$%^&*()_-]/g)
  );
}

export function popularEntryIn(password: string): string | null {
  const lower = password.normalize('NFC').toLowerCase();
  return popularEntries.find((entry) => lower.includes(entry)) ?? null;
}

/** The rules that the entries break, in display order. Unicode forms of one text are the same: NFC is hashed. */
export function brokenPasswordRules(
  password: string,
  repeat: string,
  policy: PasswordPolicy = defaultPasswordPolicy,
): PasswordRule[] {
  const length = passwordLength(password);
  const broken: PasswordRule[] = [];
  if (length < policy.shortest) broken.push('short');
  if (length > policy.longest) broken.push('long');
  if (popularEntryIn(password) !== null) broken.push('common');
  if (passwordScore(password) < smallestPasswordScore) broken.push('weak');
  if (password.normalize('NFC') !== repeat.normalize('NFC')) broken.push('match');
  return broken;
}
