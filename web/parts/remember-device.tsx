import type { Ref } from 'react';
import { noticeOfSearch } from '#contract/notices.ts';
import { queryNames } from '#contract/screens.ts';
import { useMessage } from '../messages.tsx';
import { parameterOf } from '../query.ts';
import { useVisit } from '../visit.ts';

/** Off until the visitor says otherwise, on every load: a browser must not fill it in. What was said before a wrong code counts. */
export function RememberDevice({ ref }: { ref: Ref<HTMLInputElement> }) {
  const message = useMessage();
  const { page, place } = useVisit();
  if (!page.secondFactor?.mayRemember) return null;
  const wasSaid = noticeOfSearch(place.search) !== null && parameterOf(place.search, queryNames.remember) === 'true';
  return (
    <label className="check">
      <input ref={ref} type="checkbox" name={queryNames.remember} defaultChecked={wasSaid} />
      {message('twofa-remember')}
    </label>
  );
}
