import { redirectValue } from '#contract/destination.ts';
import { queryNames } from '#contract/screens.ts';
import { parameterOf } from '../query.ts';
import { useVisit } from '../visit.ts';
import { TurnField } from './turn-field.tsx';

/** The destination after sign-in, sent along (decisions §4), and the turn that it is for. */
export function RedirectField({ name = 'redirectURL' }: { name?: 'redirectURL' | 'redirectURLSSO' }) {
  const { place, saved, page } = useVisit();
  const askedFor = parameterOf(place.search, queryNames.destination);
  return (
    <>
      <input type="hidden" name={name} value={redirectValue(saved, askedFor, page.rules)} />
      <TurnField />
    </>
  );
}
