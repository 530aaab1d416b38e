import type { Page } from '#contract/page.ts';
import { queryNames } from '#contract/screens.ts';
import { turnOfForm } from '#contract/turn-of-form.ts';
import { useVisit } from '../visit.ts';

/** The turn that a form with a destination belongs to (docs/decisions/0027). */
export function TurnField() {
  const { isStatic, turns } = useVisit().page;
  return isStatic ? null : <input type="hidden" name={queryNames.turn} value={turnOfForm(turns)} />;
}

/** Query parameters for the address of a form that carries a destination there, and the turn that it is for. */
export function destinationQuery(destination: string | undefined, { isStatic, turns }: Page) {
  return isStatic ? {} : { destination, turn: destination && turnOfForm(turns) };
}
