/** The lengths that a new password must keep, in Unicode code points after NFC, both inclusive. */
export type PasswordPolicy = { shortest: number; longest: number };

/** Specification §5, the reading that people see: 7 to 72. */
export const defaultPasswordPolicy: PasswordPolicy = { shortest: 7, longest: 72 };

export const smallestPasswordScore = 6;

/** Rejected as substrings, without regard to case (specification §5). */
export const popularEntries = [
  '123456789',
  '123456',
  '123',
  'password',
  'passwort',
  'passw0rd',
  'qwert',
  '123123',
  'abc',
  'abc123',
] as const;

/** The rules by the last part of their message keys, `password-validation-…`. */
export type PasswordRule = 'short' | 'long' | 'common' | 'weak' | 'match';

/**
 * Control characters, halves of surrogate pairs and noncharacters, and U+FFFD, which stands where a browser or a decoder
 * met something that is not Unicode: nobody could be sure to type such a password again.
 */
const impossible = /[\p{Cc}\p{Cs}\p{Noncharacter_Code_Point}\uFFFD]/u;

/** Whether a password can be one at all; when not, a change fails for reason 6 (decisions §6). */
export function isPossiblePassword(password: string): boolean {
  return !impossible.test(password);
}

/** The length of a password in Unicode code points after NFC. */
export function passwordLength(password: string): number {
  return [...password.normalize('NFC')].length;
}

/**
 * The strength score (specification §5): the length beyond 8, plus up to 2 each for digits, lower-case letters,
 * upper-case letters and symbols of `~!@#$%^&*()_-`. It passes from 6 on.
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

/** Whether one of the popular entries is inside. */
export function containsPopularEntry(password: string): boolean {
  const lower = password.normalize('NFC').toLowerCase();
  return popularEntries.some((entry) => lower.includes(entry));
}

/**
 * The rules that the two entries break, in the order in which they are shown; empty when the password may be sent.
 * Forms of one text in Unicode are one password here, as they are at sign-in: NFC is what is hashed.
 */
export function brokenPasswordRules(
  password: string,
  repeat: string,
  policy: PasswordPolicy = defaultPasswordPolicy,
): PasswordRule[] {
  const length = passwordLength(password);
  const broken: PasswordRule[] = [];
  if (length < policy.shortest) broken.push('short');
  if (length > policy.longest) broken.push('long');
  if (containsPopularEntry(password)) broken.push('common');
  if (passwordScore(password) < smallestPasswordScore) broken.push('weak');
  if (password.normalize('NFC') !== repeat.normalize('NFC')) broken.push('match');
  return broken;
}
