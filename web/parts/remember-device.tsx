import type { Ref } from 'react';
import { queryNames } from '#contract/screens.ts';
import { useMessage } from '../messages.tsx';
import { useVisit } from '../visit.ts';

/** Off until the visitor says otherwise, on every load: a browser must not fill it in. */
export function RememberDevice({ ref }: { ref: Ref<HTMLInputElement> }) {
  const message = useMessage();
  if (!useVisit().page.secondFactor?.mayRemember) return null;
  return (
    <label className="check">
      <input ref={ref} type="checkbox" name={queryNames.remember} autoComplete="off" />
      {message('twofa-remember')}
    </label>
  );
}
