import { useVisit } from '../visit.ts';

/** Whose second-factor page it is: somebody else may have signed in in another tab since. */
export function AccountField() {
  return <input type="hidden" name="account" value={useVisit().page.secondFactor?.account} />;
}
