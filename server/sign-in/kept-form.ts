import { acceptableDestination } from '#contract/destination.ts';
import { longestUsername } from '#contract/payloads.ts';
import type { Config } from '../config/config.ts';
import type { KeptForm } from '../http/refuse.ts';
import { destinationToKeep } from './destination-to-keep.ts';

/** What a form that leads to a sign-in gets back if it cannot be processed. */
export function keptForm(
  { destinationRules, basePath }: Config,
  { username = '', redirectURL }: { username?: string; redirectURL?: string | undefined },
): KeptForm {
  const accepted = redirectURL ? acceptableDestination(redirectURL, destinationRules) : null;
  return {
    typedUsername: [...username].slice(0, longestUsername).join(''),
    destination: accepted ? destinationToKeep(basePath, accepted) : undefined,
  };
}
