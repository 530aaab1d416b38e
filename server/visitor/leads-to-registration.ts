import { screenOfPath } from '#contract/screens.ts';
import type { Config } from '../config/config.ts';
import { splitUrl } from '../http/request-url.ts';

/** Whether a destination is the page that sets up an app, which needs a new sign-in with everything that is required. */
export function leadsToRegistration({ basePath }: Config, destination: string): boolean {
  const { path } = splitUrl(destination);
  return path.startsWith(`${basePath}/`) && screenOfPath(path.slice(basePath.length)).name === 'twoFactorRegistration';
}
