import { isDefaultDestination } from '#contract/destination.ts';

/** What of a destination a failure page has to carry: the fragment stays in the browser and the default needs no keeping. */
export function destinationToKeep(basePath: string, destination: string): string | undefined {
  const kept = destination.split('#', 1)[0] as string;
  return isDefaultDestination(kept, basePath) ? undefined : kept;
}
