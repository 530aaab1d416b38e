import { brokenPasswordRules, isPossiblePassword, type PasswordPolicy } from '#contract/password-rules.ts';
import { type ChangeFailedReason, changeFailedReasons } from '#contract/reasons.ts';
import { isCommonPassword } from './common-passwords.ts';
import { isOwnName } from './own-names.ts';

export type NewPasswordRules = { policy: PasswordPolicy; names: readonly string[] };

/**
 * Why a new password, typed twice, is refused; null when it may be set. The first reason that holds: it is no possible
 * password, the entries differ, it does not meet the criteria (length, popular entries, common passwords, own names),
 * it is too weak.
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
