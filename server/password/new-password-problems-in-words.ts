import {
  brokenPasswordRules,
  isPossiblePassword,
  type PasswordPolicy,
  type PasswordRule,
} from '#contract/password-rules.ts';
import { isCommonPassword } from './common-passwords.ts';
import type { NewPasswordRules } from './new-password-problem.ts';
import { isOwnName } from './own-names.ts';

/** All problems of a new password, not just the first, for operators: they have no checklist. Never quotes the password. */
export function newPasswordProblemsInWords(
  password: string,
  repeat: string,
  { policy, names }: NewPasswordRules,
): string[] {
  const problems = brokenPasswordRules(password, repeat, policy).map((rule) => inWords(rule, policy));
  if (!isPossiblePassword(password)) problems.push('it must not contain control characters or invalid Unicode');
  if (isCommonPassword(password)) problems.push('it is on the list of common passwords');
  if (isOwnName(password, names)) problems.push('it is just a name of the user, a customer or the hub');
  return problems;
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
