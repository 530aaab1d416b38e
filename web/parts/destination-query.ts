import { destinationToCarry } from '#contract/destination-to-carry.ts';
import { turnOfForm } from '#contract/turn-of-form.ts';
import { useVisit } from '../visit.ts';

/** Query parameters for the address of a form that carries a destination there, and the turn that it is for. */
export function useDestinationQuery(asked: string | null) {
  const { rules, turns } = useVisit().page;
  const destination = destinationToCarry(asked, rules);
  return { destination, turn: destination && turnOfForm(turns) };
}
