import { isEmailAddress } from '#contract/email-address.ts';
import { foldLoginName } from './fold-name.ts';

/** The domain of a typed email address in ASCII form, or null if it is not an address. */
export function domainOfAddress(text: string): string | null {
  const fold = foldLoginName(text);
  return isEmailAddress(fold) ? fold.slice(fold.indexOf('@') + 1) : null;
}
