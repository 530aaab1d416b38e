import { acceptableDestination, defaultDestination } from '#contract/destination.ts';
import type { Config } from '../config/config.ts';

/** Where a visitor goes after signing in: the requested page if it is allowed, else the default. */
export function destinationFor(
  { destinationRules, basePath }: Pick<Config, 'destinationRules' | 'basePath'>,
  asked: string | null | undefined,
): string {
  return (asked && acceptableDestination(asked, destinationRules)) || defaultDestination(basePath);
}
