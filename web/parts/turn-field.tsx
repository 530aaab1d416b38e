import { queryNames } from '#contract/screens.ts';
import { turnOfForm } from '#contract/turn-of-form.ts';
import { useVisit } from '../visit.ts';

/** The turn that a form with a destination belongs to (docs/decisions/0027). */
export function TurnField() {
  const { isStatic, turns } = useVisit().page;
  return isStatic ? null : <input type="hidden" name={queryNames.turn} value={turnOfForm(turns)} />;
}
