import { type EventRow, personPath } from '#contract/desk.ts';
import type { AccountKey } from '../account/account-context.tsx';
import { Time, TimeInUtc } from '../account/times.tsx';
import { useDesk } from './desk-context.tsx';
import { Table } from './table.tsx';

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

/** Events, newest first; `byDay`: under their days, in UTC as the filter means them. On a person's page nobody is named. */
export function EventTable({ events, byDay = false, isOfPerson = false }: EventTableProps) {
  const { text, toDesk } = useDesk();
  const rows = events.map((event, index) => ({
    id: String(index),
    under: byDay && dayOf(event) !== dayOf(events[index - 1]) && <TimeInUtc at={event.at} style="day" />,
    cells: [
      byDay ? <TimeInUtc key="at" at={event.at} style="clock" /> : <Time key="at" at={event.at} />,
      <EventWords key="words" {...event} />,
      ...(isOfPerson ? [] : [event.person && <a href={toDesk(personPath(event.person.id))}>{event.person.name}</a>]),
      event.actor?.replace(/^user:/, '') ??
        (event.address ? <span className="num">{event.address}</span> : event.connection),
      <Reference key="reference" of={event} />,
    ],
  }));
  return <Table label={text('desk-events')} columns={isOfPerson ? ofPerson : columns} rows={rows} />;
}

type EventTableProps = { events: readonly EventRow[]; byDay?: boolean; isOfPerson?: boolean };

const columns = [
  { title: 'desk-when', isNumber: true },
  { title: 'desk-what-happened' },
  { title: 'desk-person' },
  { title: 'desk-by-or-from' },
  { title: 'desk-reference' },
] as const;
const ofPerson = columns.filter(({ title }) => title !== 'desk-person');

const dayOf = (event: EventRow | undefined) => event?.at.toISOString().slice(0, 10);
