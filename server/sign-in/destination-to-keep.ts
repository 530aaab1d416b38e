import { isDefaultDestination } from '#contract/destination.ts';

/** The part of a destination that a failure page carries: without the fragment, and nothing for the default. */
export function destinationToKeep(basePath: string, destination: string): string | undefined {
  const kept = destination.split('#', 1)[0] as string;
  return isDefaultDestination(kept, basePath) ? undefined : kept;
}
