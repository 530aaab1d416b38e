import { useMessage } from '../messages.tsx';
import { titleKey } from '../screen-title.ts';
import { useVisit } from '../visit.ts';

/** The only heading of a screen; a screen change focuses it. */
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
