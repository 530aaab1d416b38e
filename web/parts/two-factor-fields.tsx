import { queryNames } from '#contract/screens.ts';
import { turnOfForm } from '#contract/turn-of-form.ts';
import { parameterOf } from '../query.ts';
import { useVisit } from '../visit.ts';

/** Query values sent along, so that without JavaScript an answer can lead back here or on to the destination. */
export function TwoFactorFields() {
  const { page, place } = useVisit();
  return [queryNames.redirectUrl, queryNames.codeSentViaEmail, queryNames.recovery, queryNames.turn].map((name) => {
    const value = name === queryNames.turn ? turnOfForm(page.turns) : parameterOf(place.search, name);
    return value !== null && <input key={name} type="hidden" name={name} value={value} />;
  });
}
