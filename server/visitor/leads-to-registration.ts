import { accountSectionOf } from '#contract/account.ts';
import { screenOfPath } from '#contract/screens.ts';
import type { Config } from '../config/config.ts';
import { splitUrl } from '../http/request-url.ts';

/**
 * Whether a destination is the page that sets up an app, or that of passkeys, which need a new sign-in with everything that is
 * required.
 */
export function leadsToRegistration({ basePath }: Config, destination: string): boolean {
  const { path } = splitUrl(destination);
  if (!path.startsWith(`${basePath}/`)) return false;
  const below = path.slice(basePath.length);
  return screenOfPath(below).name === 'twoFactorRegistration' || accountSectionOf(below) === 'passkeys';
}
