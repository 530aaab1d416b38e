import type { Turns } from '#contract/page.ts';
import { queryNames } from '#contract/screens.ts';
import { turnOfForm } from '#contract/turn-of-form.ts';
import { useVisit } from '../visit.ts';

/** The turn that a form with a destination belongs to (docs/decisions/0027). */
export function TurnField() {
  return <input type="hidden" name={queryNames.turn} value={turnOfForm(useVisit().page.turns)} />;
}

/** Query parameters for the address of a form that carries a destination there, and the turn that it is for. */
export function destinationQuery(destination: string | undefined, turns: Turns | undefined) {
  return { destination, turn: destination && turnOfForm(turns) };
}
