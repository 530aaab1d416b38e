import { brokenPasswordRules, isPossiblePassword, type PasswordPolicy } from '#contract/password-rules.ts';
import { type ChangeFailedReason, changeFailedReasons } from '#contract/reasons.ts';
import { isCommonPassword } from './common-passwords.ts';
import { isOwnName } from './own-names.ts';

export type NewPasswordRules = { policy: PasswordPolicy; names: readonly string[] };

/**
 * Why a new password, typed twice, is refused; null if it is accepted. The first that applies: it cannot be a password,
 * the entries differ, it fails the criteria (length, popular entries, common passwords, own names), it is too weak.
 */
export function newPasswordProblem(
  password: string,
  repeat: string,
  { policy, names }: NewPasswordRules,
): ChangeFailedReason | null {
  if (!isPossiblePassword(password)) return changeFailedReasons.invalidPassword;
  const broken = brokenPasswordRules(password, repeat, policy);
  if (broken.includes('match')) return changeFailedReasons.passwordsDiffer;
  if (broken.some((rule) => rule !== 'weak') || isCommonPassword(password) || isOwnName(password, names))
    return changeFailedReasons.criteriaNotMet;
  return broken.includes('weak') ? changeFailedReasons.tooWeak : null;
}
