import { redirectValue } from '#contract/destination.ts';
import { queryNames } from '#contract/screens.ts';
import { parameterOf } from '../query.ts';
import { useVisit } from '../visit.ts';

/** The destination after sign-in, sent along (decisions §4). */
export function RedirectField({
  name = 'redirectURL',
  from = queryNames.destination,
}: {
  name?: 'redirectURL' | 'redirectURLSSO';
  /** The parameter of the address that has it. */
  from?: 'destination' | 'redirectURL';
}) {
  const { place, saved, page } = useVisit();
  const askedFor = parameterOf(place.search, from);
  return <input type="hidden" name={name} value={redirectValue(saved, askedFor, page.rules)} />;
}
