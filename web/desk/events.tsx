import { type EventRow, personPath } from '#contract/desk.ts';
import type { AccountKey } from '../account/account-context.tsx';
import { useDesk } from './desk-context.tsx';

/** The text of a reason; those of single sign-on mean something else, though a few are called as others'. */
export function reasonKey({ event, reason }: Pick<EventRow, 'event' | 'reason'>): AccountKey {
  return `reason-${event === 'sso-refused' ? 'sso-' : ''}${reason}` as AccountKey;
}

/** What a reason means, in the reader's words. */
export function useReason() {
  const { text } = useDesk();
  return (of: Pick<EventRow, 'event' | 'reason'>) => (of.reason === null ? null : text(reasonKey(of)));
}

/** What happened, in a line. */
export function EventWords(event: EventRow) {
  const { text } = useDesk();
  const reason = useReason()(event);
  const words = text(`event-${event.event}` as AccountKey);
  return <span className={`state ${toneOf(event)}`}>{reason === null ? words : `${words}: ${reason}`}</span>;
}

/** Bad: somebody was kept out; good: somebody came in; what was changed has no colour. */
function toneOf({ event }: EventRow): string {
  if (/refused|throttled|given-up|not-sent|not-added|second-factor-ended/.test(event)) return 'bad';
  return event === 'signed-in' ? 'good' : 'plain';
}

/** The reference of an event, which leads to why. */
export function Reference({ of: { reference, person } }: { of: EventRow }) {
  const { toDesk } = useDesk();
  if (reference === null) return null;
  const code = <code>{reference}</code>;
  return person ? <a href={toDesk(personPath(person.id), { reference })}>{code}</a> : code;
}
