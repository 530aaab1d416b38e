import { queryNames } from '#contract/screens.ts';
import { parameterOf } from '../query.ts';
import { useVisit } from '../visit.ts';

/** Query values sent along, so that without JavaScript an answer can lead back here or on to the destination. */
export function TwoFactorFields() {
  const { place } = useVisit();
  return (
    <>
      {[queryNames.redirectUrl, queryNames.codeSentViaEmail, queryNames.recovery].map((name) => {
        const value = parameterOf(place.search, name);
        return value !== null && <input key={name} type="hidden" name={name} value={value} />;
      })}
    </>
  );
}
