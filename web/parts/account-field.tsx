import { useVisit } from '../visit.ts';

/** Whose second-factor page it is: somebody else may have signed in in another tab since (docs/decisions/0029). */
export function AccountField() {
  return <input type="hidden" name="account" value={useVisit().page.secondFactor?.account} />;
}
