import { accountFields, accountSectionOf } from '#contract/account.ts';
import { acceptableDestination, defaultDestination } from '#contract/destination.ts';
import { screenOfPath } from '#contract/screens.ts';
import type { Config } from '../config/config.ts';
import { splitUrl } from '../http/request-url.ts';

/** Where a visitor goes after signing in: the requested page if it is allowed, else the default. */
export function destinationFor(
  { destinationRules, basePath }: Pick<Config, 'destinationRules' | 'basePath'>,
  asked: string | null | undefined,
): string {
  return (asked && acceptableDestination(asked, destinationRules)) || defaultDestination(basePath);
}

/**
 * Whether a destination is the page that sets up an app, or the account page where that or a change of passkeys was begun,
 * which need a new sign-in with everything that is required.
 */
export function leadsToRegistration({ basePath }: Config, destination: string): boolean {
  const { path, search } = splitUrl(destination);
  if (!path.startsWith(`${basePath}/`)) return false;
  const below = path.slice(basePath.length);
  const begun = new URLSearchParams(search).get(accountFields.action);
  switch (accountSectionOf(below)) {
    case 'app':
      return begun === 'setUp';
    case 'passkeys':
      return begun === 'enrol' || begun === 'remove';
    default:
      return screenOfPath(below).name === 'twoFactorRegistration';
  }
}
