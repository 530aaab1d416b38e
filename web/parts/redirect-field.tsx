import { redirectValue } from '#contract/destination.ts';
import { queryNames } from '#contract/screens.ts';
import { turnOfForm } from '#contract/turn-of-form.ts';
import { parameterOf } from '../query.ts';
import { useVisit } from '../visit.ts';

/** The destination after sign-in, sent along (decisions §4), and the turn that it is for. */
export function RedirectField({ name = 'redirectURL' }: { name?: 'redirectURL' | 'redirectURLSSO' }) {
  const { place, saved, page } = useVisit();
  const askedFor = parameterOf(place.search, queryNames.destination);
  return (
    <>
      <input type="hidden" name={name} value={redirectValue(saved, askedFor, page.rules)} />
      <input type="hidden" name={queryNames.turn} value={turnOfForm(page.turns)} />
    </>
  );
}
