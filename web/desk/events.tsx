import { type DeskViewOf, type EventRow, personPath } from '#contract/desk.ts';
import type { AccountKey } from '../account/account-context.tsx';
import { Time, TimeInUtc } from '../account/times.tsx';
import { useDesk } from './desk-context.tsx';
import { Filter } from './form.tsx';
import { Table } from './table.tsx';

/** What was recorded, by a filter; the same as a file. */
export function Events({ customers, filter, events, before }: DeskViewOf<'events'>) {
  const { text, toDesk } = useDesk();
  const all = { key: '', name: text('desk-all') };
  const choices = {
    customer: { options: [all, ...customers] },
    kind: { options: [all, 'signIns', 'refusals', 'acts'] },
  };
  const asked = Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== ''));
  return (
    <>
      <div className="title">
        <div>
          <h1>{text('desk-events')}</h1>
          <p className="soft">{text('desk-events-file')}</p>
        </div>
        <p className="links">
          <a href={toDesk('/events.csv', asked)}>CSV</a>
          <a href={toDesk('/events.jsonl', asked)}>JSON Lines</a>
        </p>
      </div>
      <section className="panel">
        <Filter values={filter} kinds={{ ...choices, from: { type: 'date' }, to: { type: 'date' } }} />
        {events.length === 0 ? <p>{text('desk-events-none')}</p> : <EventTable events={events} />}
        <p className="row">
          <span className="soft">{text('desk-events-utc')}</span>
          {before !== null && <a href={toDesk('/events', { ...asked, before })}>{text('desk-older')}</a>}
        </p>
      </section>
    </>
  );
}

/** Events, newest first: on their own page under their days, in UTC as the filter means them; on a person's, nobody is named. */
export function EventTable({ events }: { events: readonly EventRow[] }) {
  const { toDesk, view } = useDesk();
  const byDay = view.name === 'events';
  const linked = ({ person }: EventRow) => person && <a href={toDesk(personPath(person.id))}>{person.name}</a>;
  const columns = {
    'desk-when': ({ at }: EventRow) => (byDay ? <TimeInUtc at={at} style="clock" /> : <Time at={at} />),
    'desk-what-happened': (event: EventRow) => <EventWords {...event} />,
    ...(view.name !== 'person' && { 'desk-person': linked }),
    'desk-by-or-from': ({ actor, address, connection }: EventRow) =>
      actor?.replace(/^user:/, '') ?? (address ? <span className="num">{address}</span> : connection),
    'desk-reference': (event: EventRow) => <Reference of={event} />,
  };
  const above = (event: EventRow, before?: EventRow) =>
    byDay && dayOf(event) !== dayOf(before) && <TimeInUtc at={event.at} style="day" />;
  return <Table label="desk-events" rows={events} columns={columns} above={above} />;
}

const dayOf = (event?: EventRow) => event?.at.toISOString().slice(0, 10);

/**
 * What happened, in a line. Bad: somebody was kept out; good: somebody came in; what was changed has no colour. The reasons of single
 * sign-on mean something else, though a few are called as others'.
 */
export function EventWords({ event, reason }: EventRow) {
  const { text } = useDesk();
  const words = text(`event-${event}` as AccountKey);
  const why = reason && text(`reason-${event === 'sso-refused' ? 'sso-' : ''}${reason}` as AccountKey);
  const isBad = /refused|throttled|given-up|not-sent|not-added|second-factor-ended/.test(event);
  const tone = isBad ? 'bad' : event === 'signed-in' ? 'good' : 'plain';
  return <span className={`state ${tone}`}>{why ? `${words}: ${why}` : words}</span>;
}

/** The reference of an event, which leads to why. */
export function Reference({ of: { reference, person } }: { of: EventRow }) {
  const { toDesk } = useDesk();
  if (reference === null) return null;
  const code = <code>{reference}</code>;
  return person ? <a href={toDesk(personPath(person.id), { reference })}>{code}</a> : code;
}
