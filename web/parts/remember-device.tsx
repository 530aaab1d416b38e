import type { Ref } from 'react';
import { noticeOfSearch } from '#contract/notices.ts';
import { queryNames } from '#contract/screens.ts';
import { useMessage } from '../messages.tsx';
import { parameterOf } from '../query.ts';
import { useVisit } from '../visit.ts';

/** Off on every load: browsers must not restore it. The choice before a wrong code is kept. */
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
