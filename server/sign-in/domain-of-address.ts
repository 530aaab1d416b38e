import { isEmailAddress } from '#contract/email-address.ts';
import { foldLoginName } from '../accounts/fold-name.ts';

/** The domain of a typed e-mail address in its ASCII form, or null when it is none. */
export function domainOfAddress(text: string): string | null {
  const fold = foldLoginName(text);
  return isEmailAddress(fold) ? fold.slice(fold.indexOf('@') + 1) : null;
}
