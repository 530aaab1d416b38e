import { queryNames } from '#contract/screens.ts';
import type { Place } from './place.ts';
import { parameterOf } from './query.ts';

/** The reset link that an address opens, or null. Anything but a token is not one. */
export function linkOf({ screen, search }: Pick<Place, 'screen' | 'search'>): string | null {
  const hash = screen.name === 'forgottenChange' ? parameterOf(search, queryNames.hash) : undefined;
  return hash && /^[\w-]{43}$/.test(hash) ? hash : null;
}
