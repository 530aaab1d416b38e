import { useMessage } from '../messages.tsx';
import { titleKey } from '../screen-title.ts';
import { useVisit } from '../visit.ts';

/** The one heading of a screen; a screen change moves the focus to it. */
export function Heading({ prefix }: { prefix?: string }) {
  const message = useMessage();
  const { place, page } = useVisit();
  return (
    <h1 tabIndex={-1}>
      {prefix && <span className="sr">{prefix}</span>}
      {message(titleKey(place, page))}
    </h1>
  );
}
