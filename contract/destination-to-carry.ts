import {
  acceptableDestination,
  type DestinationRules,
  isDefaultDestination,
  longestDestination,
} from './destination.ts';

/**
 * What our addresses carry of a requested destination, fragment included, where no tab keeps it: nothing if it is
 * refused, the default, or would be refused as too long when it is read again.
 */
export function destinationToCarry(asked: string | null, rules: DestinationRules): string | undefined {
  const accepted = asked === null ? null : acceptableDestination(asked, rules);
  if (accepted === null || accepted.length > longestDestination) return undefined;
  return isDefaultDestination(accepted, rules.basePath) ? undefined : accepted;
}
