import { accountFields, accountSectionOf } from '#contract/account.ts';
import { screenOfPath } from '#contract/screens.ts';
import type { Config } from '../config/config.ts';
import { splitUrl } from '../http/request-url.ts';

/**
 * Whether a destination is the page that sets up an app, or the account page where that was begun, which need a new sign-in
 * with everything that is required.
 */
export function leadsToRegistration({ basePath }: Config, destination: string): boolean {
  const { path, search } = splitUrl(destination);
  if (!path.startsWith(`${basePath}/`)) return false;
  const below = path.slice(basePath.length);
  if (accountSectionOf(below) === 'app') return new URLSearchParams(search).get(accountFields.action) === 'setUp';
  return screenOfPath(below).name === 'twoFactorRegistration';
}
